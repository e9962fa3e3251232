package dev.idem.jdbc;

import static dev.idem.jdbc.Days.PAYMENTS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.jdbc.schema.Database;
import dev.idem.servers.SkipWithoutServer;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Runs the statements of docs/operations.md that move a plain table into partitions. */
@ExtendWith(SkipWithoutServer.class)
class PartitionMoveTest {
    @Test
    @DisplayName("PG-29 a plain table that is moved into partitions keeps its memory; what is too old is undecidable")
    void aPlainTableIsMoved() throws Exception {
        String young = Days.v7(Duration.ofDays(2));
        String oldest = Days.v7(Duration.ofDays(10));
        String tooOld = Days.v7(Duration.ofDays(12));
        try (Db db = Db.fresh(Database.POSTGRESQL)) {
            try (Inbox before = db.inbox()) {
                for (String id : new String[] {young, oldest, tooOld}) {
                    Days.pay(before, Consumer.of("payments"), id);
                }
            }
            db.execute(documented("aside"));
            JdbcSchema.of(db.plain()).applyPartitioned(10);
            db.execute("SET TimeZone = 'Pacific/Kiritimati'; " + documented("move"));
            try (Inbox after = Inbox.create(JdbcStore.create(db.plain()))) {
                assertThat(Days.pay(after, PAYMENTS, young)).isInstanceOf(Outcome.Duplicate.class);
                assertThat(Days.pay(after, PAYMENTS, oldest)).isInstanceOf(Outcome.Duplicate.class);
                assertThat(Days.pay(after, PAYMENTS, tooOld)).isInstanceOf(Outcome.Undecidable.class);
                assertThat(Days.pay(after, PAYMENTS, Days.v7(Duration.ofDays(10))))
                        .isInstanceOf(Outcome.Processed.class);
            }
            assertThat(db.payments()).isEqualTo(4);
        }
    }

    private static String documented(String name) throws IOException {
        String page = Files.readString(ProjectRoot.find().resolve("docs/operations.md"));
        Matcher block = Pattern.compile("(?s)<!-- run: " + name + " -->\\s*```sql\\n(.*?)```")
                .matcher(page);
        assertThat(block.find()).as(name).isTrue();
        return block.group(1);
    }
}
