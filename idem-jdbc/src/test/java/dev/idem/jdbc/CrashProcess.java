package dev.idem.jdbc;

import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;

/**
 * A process that dies at many points at once: one thread for each case, all standing where their case says. Arguments:
 * the address of the database, {@code halt} or {@code wait}, and the cases as {@code scenario:index}.
 */
final class CrashProcess {
    static final String READY = "all stand at their points";
    static final int HALTED = 7;

    private CrashProcess() {}

    public static void main(String[] args) throws Exception {
        DataSource source = Db.plain(args[0]);
        source.getConnection(); // keeps an embedded database open until the process dies
        int cases = args.length - 2;
        CountDownLatch arrived = new CountDownLatch(cases);
        for (int i = 2; i < args.length; i++) {
            String id = args[i];
            new Thread(() -> run(source, id, arrived)).start();
        }
        arrived.await();
        if (args[1].equals("halt")) {
            Runtime.getRuntime().halt(HALTED);
        }
        System.out.println(READY);
        new CountDownLatch(1).await();
    }

    private static void run(DataSource source, String id, CountDownLatch arrived) {
        CrashDelivery.Scenario scenario = CrashDelivery.Scenario.valueOf(id.substring(0, id.indexOf(':')));
        int index = Integer.parseInt(id.substring(id.indexOf(':') + 1));
        try {
            CrashDelivery.deliver(source, id, scenario, (point, passed) -> {
                if (passed == index) {
                    arrived.countDown();
                    standStill();
                }
            });
        } catch (Exception failure) {
            failure.printStackTrace();
        }
        System.out.println(id + " did not reach its point");
    }

    private static void standStill() {
        while (true) {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException ignored) {
                // nothing but the end of the process ends this
            }
        }
    }
}
