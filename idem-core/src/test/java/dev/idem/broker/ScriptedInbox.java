package dev.idem.broker;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.spi.MarkerStore;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.Function;

/** An inbox that answers what a test says, so that lanes can be tested without a store. */
public final class ScriptedInbox {
    private ScriptedInbox() {}

    public static Inbox answering(Function<List<Message>, List<Outcome<?>>> script) {
        return (Inbox) Proxy.newProxyInstance(
                ScriptedInbox.class.getClassLoader(), new Class<?>[] {Inbox.class}, (proxy, method, arguments) -> {
                    if (!method.getName().equals("acceptAll")) {
                        throw new UnsupportedOperationException(method.getName());
                    }
                    @SuppressWarnings("unchecked")
                    List<Message> messages = (List<Message>) arguments[1];
                    assert arguments[0] instanceof Consumer;
                    return script.apply(messages);
                });
    }

    /** An inbox that only has a store. */
    public static Inbox over(MarkerStore store) {
        return (Inbox) Proxy.newProxyInstance(
                ScriptedInbox.class.getClassLoader(), new Class<?>[] {Inbox.class}, (proxy, method, arguments) -> {
                    if (!method.getName().equals("store")) {
                        throw new UnsupportedOperationException(method.getName());
                    }
                    return store;
                });
    }

    public static Inbox each(Function<Message, Outcome<?>> script) {
        return answering(messages -> messages.stream().<Outcome<?>>map(script).toList());
    }
}
