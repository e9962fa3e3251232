package dev.idem.jdbc.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Transaction;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.cfg.Configuration;
import org.hibernate.cfg.JdbcSettings;
import org.hibernate.cfg.SchemaToolingSettings;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class HibernateTest extends LibraryContract {
    @Override
    Library start(Bench bench) {
        SessionFactory sessions = sessions(bench.store().dataSource());
        return new Library() {
            @Override
            public Access in(Transaction tx, Way way) throws SQLException {
                return switch (way) {
                    case CONNECTION -> new Hibernate(sessions, tx.connection());
                    case UNIT_DATA_SOURCE ->
                        new Hibernate(sessions, tx.dataSource().getConnection());
                    case STORE_DATA_SOURCE -> new Hibernate(sessions, null);
                };
            }

            @Override
            public void close() {
                sessions.close();
            }
        };
    }

    private static SessionFactory sessions(DataSource dataSource) {
        return sessions(dataSource, "DELAYED_ACQUISITION_AND_RELEASE_AFTER_TRANSACTION");
    }

    private static SessionFactory sessions(DataSource dataSource, String handling) {
        Configuration configuration = new Configuration();
        configuration.getProperties().put(JdbcSettings.CONNECTION_HANDLING, handling);
        configuration.getProperties().put(JdbcSettings.JAKARTA_NON_JTA_DATASOURCE, dataSource);
        configuration.getProperties().put(SchemaToolingSettings.HBM2DDL_AUTO, "none");
        return configuration.addAnnotatedClass(Payment.class).buildSessionFactory();
    }

    private record Hibernate(SessionFactory sessions, Connection given) implements Library.Access {
        /** A stateless session writes at once and needs no transaction of Hibernate's. */
        @Override
        public void pay(String order) {
            try (StatelessSession session =
                    given == null ? sessions.openStatelessSession() : sessions.openStatelessSession(given)) {
                session.insert(new Payment(order));
            }
        }

        @Override
        public void payInTransaction(String order, Library.Body body) throws Exception {
            if (given == null) {
                sessions.inTransaction(session -> persist(session, order, body));
                return;
            }
            try (Session session = sessions.withOptions().connection(given).openSession()) {
                org.hibernate.Transaction transaction = session.beginTransaction();
                try {
                    persist(session, order, body);
                    transaction.commit();
                } catch (Exception failure) {
                    transaction.rollback();
                    throw failure;
                }
            }
        }

        private static void persist(Session session, String order, Library.Body body) {
            session.persist(new Payment(order));
            try {
                session.flush();
                body.run();
            } catch (RuntimeException passes) {
                throw passes;
            } catch (Exception impossible) {
                throw new IllegalStateException(impossible);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-11 a flush that fails at Hibernate's commit leaves nothing, also when the handler swallows it")
    void aFailedFlushIsNeverAcknowledged(Database database) {
        try (Bench bench = new Bench(database);
                SessionFactory sessions = sessions(bench.store().dataSource())) {
            bench.execute("INSERT INTO payment VALUES ('1')");
            assertThatThrownBy(() -> bench.deliver("m", tx -> {
                        sessions.inTransaction(session -> session.persist(new Payment("2")));
                        assertThatThrownBy(() -> sessions.inTransaction(session -> session.persist(new Payment("1"))))
                                .isInstanceOf(RuntimeException.class);
                    }))
                    .isInstanceOf(BrokenTransactionException.class);
            assertThat(bench.payments()).isEqualTo(1);
            assertThat(bench.markers()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-11 a session that is closed with its transaction open is not acknowledged")
    void aForgottenCommitIsNeverAcknowledged(Database database) {
        try (Bench bench = new Bench(database);
                SessionFactory sessions = sessions(bench.store().dataSource())) {
            assertThatThrownBy(() -> bench.deliver("m", tx -> {
                        try (Session session = sessions.openSession()) {
                            session.beginTransaction();
                            session.persist(new Payment("1"));
                            session.flush();
                        }
                    }))
                    .isInstanceOf(BrokenTransactionException.class);
            assertThat(bench.payments()).isZero();
            assertThat(bench.markers()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "HX-11 an entity that a joined handler persisted before it failed is not written by the owner's commit")
    void aFailedJoinedHandlerLeavesNothingToFlush(Database database) {
        try (Bench bench = new Bench(database);
                SessionFactory own = sessions(bench.pool());
                SessionFactory stores = sessions(bench.store().dataSource())) {
            bench.inbox().register(Consumer.of("payments"));
            for (SessionFactory sessions : List.of(own, stores)) {
                assertThatThrownBy(() -> sessions.inTransaction(session -> {
                            assertThatThrownBy(() -> joined(bench, session, true))
                                    .hasMessage("after persist");
                        }))
                        .isInstanceOf(RuntimeException.class);
                assertThat(bench.payments()).isZero();
                assertThat(bench.markers()).isZero();
            }
            own.inTransaction(session -> joined(bench, session, false));
            stores.inTransaction(session -> joined(bench, session, false)); // the redelivery
            assertThat(bench.payments()).isEqualTo(1);
        }
    }

    private static void joined(Bench bench, Session session, boolean failing) {
        session.doWork(connection -> bench.inbox()
                .within(connection)
                .run("payments", Message.of("m", new byte[] {1}), tx -> {
                    session.persist(new Payment("1"));
                    if (failing) {
                        throw new IllegalStateException("after persist");
                    }
                }));
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void onTheHandlersConnectionFlushIsTheEnd(Database database) {
        try (Bench bench = new Bench(database);
                SessionFactory sessions = sessions(bench.pool())) {
            assertThatThrownBy(() -> bench.deliver("m", tx -> {
                        Session session = sessions.withOptions()
                                .connection(tx.connection())
                                .openSession();
                        session.beginTransaction();
                        session.persist(new Payment("1"));
                        session.getTransaction().commit();
                    }))
                    .hasStackTraceContaining("Refused: commit() inside a handler");
            assertThat(bench.deliver("m", tx -> {
                        Session session = sessions.withOptions()
                                .connection(tx.connection())
                                .openSession();
                        session.beginTransaction();
                        session.persist(new Payment("1"));
                        session.flush();
                        session.close();
                    }))
                    .isInstanceOf(Outcome.Processed.class);
            assertThat(bench.payments()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "HX-11 a session that took its connection before the handler cannot write past the handler's transaction")
    void aSessionAroundTheHandler(Database database) {
        try (Bench bench = new Bench(database)) {
            DataSource source = bench.store().dataSource();
            try (SessionFactory sessions = sessions(source, "DELAYED_ACQUISITION_AND_HOLD");
                    Session around = sessions.openSession()) {
                assertThatThrownBy(() -> writing(bench, around)).hasStackTraceContaining("taken before");
                assertThat(bench.payments()).isZero();
                assertThat(bench.markers()).isZero();
            }
            try (SessionFactory sessions = sessions(source, "DELAYED_ACQUISITION_AND_RELEASE_AFTER_TRANSACTION");
                    Session around = sessions.openSession()) {
                writing(bench, around); // it has given the connection back, and takes the handler's
                assertThat(bench.payments()).isEqualTo(1);
                assertThat(bench.markers()).isEqualTo(1);
            }
        }
    }

    private static void writing(Bench bench, Session around) {
        assertThat(around.find(Payment.class, "1")).isNull();
        bench.deliver("m", tx -> {
            around.beginTransaction();
            around.persist(new Payment("1"));
            around.getTransaction().commit();
        });
    }
}
