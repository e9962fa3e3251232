package dev.idem.test;

import java.util.List;

/** One clean delivery, which everything is compared with, and the proof that it is worth comparing with. */
final class Baseline {
    private final Setting setting;
    private final Stage stage;

    Baseline(Setting setting, Stage stage) {
        this.setting = setting;
        this.stage = stage;
    }

    Contents contents(Verdicts verdicts) {
        Contents before = begin();
        boolean unused = deliver();
        Contents clean = setting.contents();
        if (clean.differencesFrom(before).isEmpty()
                && before.differencesFrom(clean).isEmpty()) {
            throw new AssertionError("One clean delivery changed nothing in the tables "
                    + clean.tables().keySet()
                    + ", so there is nothing to compare. Are the handler's effects in another database or schema?");
        }
        if (unused) {
            verdicts.add(
                    Scenario.clean().name(),
                    List.of("the handler sent nothing through its transaction: it must use tx.connection() or"
                            + " tx.dataSource()"));
        }
        compareWithAnother(clean, verdicts);
        return clean;
    }

    private Contents begin() {
        setting.begin();
        return setting.contents();
    }

    private boolean deliver() {
        ServiceProcess process = stage.start();
        try {
            process.deliverAll();
        } catch (ServiceProcess.NotAcknowledged failure) {
            throw new AssertionError("Already one clean delivery failed: " + failure.getMessage(), failure.getCause());
        } finally {
            process.close();
        }
        return process.leftTransactionUnused();
    }

    /** What differs between two clean deliveries says nothing about duplicates. */
    private void compareWithAnother(Contents clean, Verdicts verdicts) {
        begin();
        deliver();
        Contents second = setting.contents();
        List<String> columns = clean.changingColumns(second);
        if (!columns.isEmpty()) {
            throw new AssertionError("Two clean deliveries differ in " + String.join(", ", columns)
                    + ". If these values are new each time, as times and random ids are, say .ignoringColumns(\""
                    + String.join("\", \"", columns) + "\"); if not, the handler keeps state between deliveries");
        }
        verdicts.add("a second clean delivery, in emptied tables", second.differencesFrom(clean));
    }
}
