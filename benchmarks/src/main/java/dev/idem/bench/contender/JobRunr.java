package dev.idem.bench.contender;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.jobs.mappers.JobMapper;
import org.jobrunr.scheduling.JobRequestScheduler;
import org.jobrunr.server.BackgroundJobServer;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.server.JobActivator;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;
import org.jobrunr.utils.mapper.JsonMapper;
import org.jobrunr.utils.mapper.jackson3.Jackson3JsonMapper;
import org.jspecify.annotations.Nullable;

/** JobRunr with job requests, which are cheaper than its lambdas, and the shortest poll it allows. */
final class JobRunr implements QueueContender {
    private static final int SHORTEST_POLL_SECONDS = 5;

    private final DataSource dataSource;
    private final JsonMapper mapper = new Jackson3JsonMapper();
    private final PostgresStorageProvider storage;
    private final JobRequestScheduler scheduler;
    private @Nullable BackgroundJobServer server;
    private Meter meter = Meter.of(0);

    JobRunr(DataSource dataSource) {
        this.dataSource = dataSource;
        storage = new PostgresStorageProvider(dataSource);
        storage.setJobMapper(new JobMapper(mapper));
        scheduler = new JobRequestScheduler(storage);
    }

    @Override
    public String name() {
        return "jobrunr";
    }

    @Override
    public List<String> tables() {
        return List.of("jobrunr_jobs");
    }

    @Override
    public String left() {
        return "SELECT count(*) FROM jobrunr_jobs WHERE state <> 'SUCCEEDED'";
    }

    @Override
    public int share() {
        return 25;
    }

    @Override
    public void open(int workers, Meter hears) {
        meter = hears;
        server = new BackgroundJobServer(
                storage,
                mapper,
                new JobActivator() {
                    @Override
                    public <T> T activateJob(Class<T> type) {
                        return type.cast(new Paying(JobRunr.this));
                    }
                },
                BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
                        .andPollIntervalInSeconds(SHORTEST_POLL_SECONDS)
                        .andWorkerCount(workers));
    }

    @Override
    public void store(List<Delivery> messages) {
        scheduler.enqueue(messages.stream().map(message -> new Job(message.order(), message.cents())));
    }

    private void pay(Job job) throws SQLException {
        meter.handling();
        try (Connection connection = dataSource.getConnection()) {
            Payments.pay(connection, new PaymentRequest(job.order(), job.cents(), false));
        }
        meter.handled(1);
        meter.committed();
    }

    @Override
    public void start() {
        opened().start();
    }

    private BackgroundJobServer opened() {
        return Objects.requireNonNull(server, "open it first");
    }

    @Override
    public void close() {
        opened().stop();
    }

    /** What is stored. */
    public record Job(String order, long cents) implements JobRequest {
        @Override
        public Class<Paying> getJobRequestHandler() {
            return Paying.class;
        }
    }

    /** Found by its class. */
    public static final class Paying implements JobRequestHandler<Job> {
        private final JobRunr owner;

        private Paying(JobRunr owner) {
            this.owner = owner;
        }

        @Override
        public void run(Job job) throws SQLException {
            owner.pay(job);
        }
    }
}
