package dev.idem.torture;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Settlement;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** An inbox that tells the campaign what is delivered; with a planted defect it answers before it has done it. */
final class ToldInbox implements InvocationHandler {
    private static final String ACCEPT_ALL = "acceptAll";

    private final Inbox inbox;
    private final WorkerPipe pipe;
    private final @Nullable Executor later;
    private final boolean forgetful;

    private ToldInbox(Inbox inbox, WorkerPipe pipe, @Nullable Executor later, boolean forgetful) {
        this.inbox = inbox;
        this.pipe = pipe;
        this.later = later;
        this.forgetful = forgetful;
    }

    static Inbox around(Inbox inbox, WorkerPipe pipe, Defect defect) {
        Executor later = defect == Defect.EARLY_ACK
                ? Executors.newSingleThreadExecutor(task -> {
                    Thread thread = new Thread(task, "torture-later");
                    thread.setDaemon(true);
                    return thread;
                })
                : null;
        return (Inbox) Proxy.newProxyInstance(
                ToldInbox.class.getClassLoader(),
                new Class<?>[] {Inbox.class},
                new ToldInbox(inbox, pipe, later, defect == Defect.FORGOTTEN_LETTERS));
    }

    @Override
    public @Nullable Object invoke(Object self, Method method, Object @Nullable [] args) throws Throwable {
        if (method.getName().equals(ACCEPT_ALL) && args != null && args[1] instanceof List<?> messages) {
            pipe.say(ConsumerMain.DELIVERED + messages.size());
            if (later != null && args[0] instanceof Consumer consumer) {
                later.execute(() -> messages.forEach(message -> untilDone(inbox, consumer, (Message) message)));
                return Collections.nCopies(messages.size(), new Outcome.Stored<>());
            }
        }
        try {
            Object answer = method.invoke(inbox, args);
            return forgetful && answer instanceof List<?> outcomes
                    ? outcomes.stream().map(ToldInbox::withoutLetter).toList()
                    : answer;
        } catch (InvocationTargetException failure) {
            throw failure.getCause() == null ? failure : failure.getCause();
        }
    }

    private static Object withoutLetter(Object answer) {
        boolean aside = answer instanceof Outcome<?> outcome && outcome.settlement() == Settlement.DEAD_LETTER;
        return aside ? new Outcome.Stored<>() : answer;
    }

    /** How a consumer goes on that has told its broker already. */
    static void untilDone(Inbox inbox, Consumer consumer, Message message) {
        while (inbox.acceptAll(consumer, List.of(message)).get(0).settlement() != Settlement.ACK) {
            try {
                Thread.sleep(Mode.RETRY.toMillis());
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }
}
