package dev.idem.cli.demo;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.h2.tools.Server;

/**
 * H2 in the memory of this process, served to the consumers over loopback.
 *
 * <p>Not a file in the consumer's own process: killed on a busy machine while several threads commit, H2 was seen to lose
 * a few transactions it had committed, even with WRITE_DELAY=0. The demo would then measure H2.
 */
final class H2Store implements DemoStore {
    private final Server server;
    private final String password = UUID.randomUUID().toString();
    private final List<Connection> keepers = new ArrayList<>();

    H2Store() throws SQLException {
        System.setProperty("h2.bindAddress", "127.0.0.1");
        // Without -ifNotExists nobody can create, and without the password nobody can open, a database through it.
        server = Server.createTcpServer("-tcpPort", "0", "-tcpDaemon").start();
    }

    @Override
    public String createDatabase() throws SQLException {
        String name = "mem:" + UUID.randomUUID();
        String login = ";USER=sa;PASSWORD=" + password;
        // The database lives as long as a connection to it.
        keepers.add(DriverManager.getConnection("jdbc:h2:" + name + login));
        return "jdbc:h2:tcp://127.0.0.1:" + server.getPort() + "/" + name + login;
    }

    @Override
    public void close() {
        server.stop();
        for (Connection keeper : keepers) {
            try {
                keeper.close();
            } catch (SQLException gone) {
                // What was to be closed is closed.
            }
        }
    }
}
