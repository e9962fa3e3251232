package dev.idem.bench.contender;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** db-scheduler, polling by lock-and-fetch, four times as many as it has threads, again when one of them would be idle. */
final class DbScheduler implements QueueContender {
    private static final Duration POLL = Duration.ofMillis(100);

    private final DataSource dataSource;
    private final OneTimeTask<String> task =
            Tasks.oneTime("pay", String.class).execute((instance, context) -> pay(instance.getData()));
    private @Nullable Scheduler scheduler;
    private Meter meter = Meter.of(0);

    DbScheduler(DataSource dataSource) throws SQLException {
        this.dataSource = dataSource;
        Sql.execute(
                dataSource,
                """
                CREATE TABLE IF NOT EXISTS scheduled_tasks (
                  task_name            text        NOT NULL,
                  task_instance        text        NOT NULL,
                  task_data            bytea,
                  execution_time       timestamptz NOT NULL,
                  picked               boolean     NOT NULL,
                  picked_by            text,
                  last_success         timestamptz,
                  last_failure         timestamptz,
                  consecutive_failures int,
                  last_heartbeat       timestamptz,
                  version              bigint      NOT NULL,
                  priority             smallint,
                  PRIMARY KEY (task_name, task_instance)
                )
                """,
                "CREATE INDEX IF NOT EXISTS execution_time_idx ON scheduled_tasks (execution_time)",
                "CREATE INDEX IF NOT EXISTS last_heartbeat_idx ON scheduled_tasks (last_heartbeat)");
    }

    @Override
    public String name() {
        return "db-scheduler";
    }

    @Override
    public List<String> tables() {
        return List.of("scheduled_tasks");
    }

    @Override
    public String left() {
        return "SELECT count(*) FROM scheduled_tasks";
    }

    @Override
    public int share() {
        return 10;
    }

    @Override
    public void open(int workers, Meter hears) {
        meter = hears;
        scheduler = Scheduler.create(dataSource, task)
                .threads(workers)
                .pollUsingLockAndFetch(1.0, 4.0)
                .pollingInterval(POLL)
                .enableImmediateExecution()
                .build();
    }

    /** In a transaction of its own, as it always is there; durable when this returns. */
    private void pay(String data) {
        meter.handling();
        try (Connection connection = dataSource.getConnection()) {
            Payments.pay(connection, PaymentRequest.decode(data.getBytes(StandardCharsets.UTF_8)));
        } catch (SQLException failure) {
            throw new IllegalStateException("the payment failed", failure);
        }
        meter.handled(1);
        meter.committed();
    }

    @Override
    public void store(List<Delivery> messages) {
        List<TaskInstance<?>> instances = new ArrayList<>();
        for (Delivery message : messages) {
            String data = new String(message.request().payload(), StandardCharsets.UTF_8);
            instances.add(task.instance(message.id(), data));
        }
        if (instances.size() == 1) {
            opened().schedule(instances.get(0), Instant.now());
        } else {
            opened().scheduleBatch(instances, Instant.now());
        }
    }

    @Override
    public void start() {
        opened().start();
    }

    private Scheduler opened() {
        return Objects.requireNonNull(scheduler, "open it first");
    }

    @Override
    public void close() {
        opened().stop();
    }
}
