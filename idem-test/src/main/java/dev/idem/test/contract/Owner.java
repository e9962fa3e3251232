package dev.idem.test.contract;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** A delivery whose handler has written its effect and now waits to be told how to end. */
final class Owner {
    private final CountDownLatch running = new CountDownLatch(1);
    private final CountDownLatch ending = new CountDownLatch(1);
    private final Future<Outcome<String>> outcome;
    private volatile @Nullable Exception failure;

    private Owner(ContractBench bench, Inbox inbox, Consumer consumer, Message message) {
        outcome = bench.start(() -> bench.deliver(inbox, consumer, message, tx -> {
            running.countDown();
            ContractBench.await(ending);
            if (failure != null) {
                throw failure;
            }
            return "done by the owner";
        }));
    }

    /** Returns when its handler is running. */
    static Owner of(ContractBench bench, Inbox inbox, Message message) throws Exception {
        Owner owner = new Owner(bench, inbox, ContractBench.consumer(), message);
        ContractBench.await(owner.running);
        return owner;
    }

    Outcome<String> commits() throws Exception {
        ending.countDown();
        return ContractBench.result(outcome);
    }

    /** Lets the handler throw, and returns when everything is undone. */
    void rollsBack() throws Exception {
        failure = new Exception("the owner fails, as this test wants");
        ending.countDown();
        try {
            ContractBench.result(outcome);
        } catch (java.util.concurrent.ExecutionException asWanted) {
            return;
        }
        throw new AssertionError("the owner's exception was swallowed");
    }
}
