package dev.idem.rabbitmq;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import dev.idem.servers.RabbitServer;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;

/** Notes what is called on channels. */
final class SpyFactory extends ConnectionFactory {
    private record Call(String method, List<Object> arguments) {}

    private final List<Call> calls = new CopyOnWriteArrayList<>();

    SpyFactory(RabbitServer server) {
        setHost(server.host());
        setPort(server.port());
    }

    List<List<Object>> calls(String method) {
        return calls.stream()
                .filter(call -> call.method.equals(method))
                .map(Call::arguments)
                .toList();
    }

    @Override
    public Connection newConnection(String name) throws IOException, TimeoutException {
        return spied(Connection.class, super.newConnection(name));
    }

    private <T> T spied(Class<T> type, T real) {
        return type.cast(Proxy.newProxyInstance(
                SpyFactory.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    if (method.getName().startsWith("basic")
                            && !method.getName().equals("basicPublish")) {
                        calls.add(new Call(method.getName(), arguments == null ? List.of() : List.of(arguments)));
                    }
                    try {
                        Object answer = method.invoke(real, arguments);
                        return answer instanceof Channel channel ? spied(Channel.class, channel) : answer;
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                }));
    }
}
