package dev.idem.servers;

class MariaDbServerTest extends DatabaseServerContract {
    @Override
    DatabaseServer start() {
        return MariaDbServer.start();
    }

    @Override
    String version() {
        return BinaryCache.version("mariadb");
    }
}
