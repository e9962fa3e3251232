package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.StoreException;
import dev.idem.jdbc.schema.Database;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MetaRowTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("all processes of one store have one secret, and no two stores have the same")
    void theSecret(Database database) {
        try (Db db = Db.fresh(database);
                Db other = Db.fresh(database)) {
            byte[] secret = db.store().secret();
            assertThat(secret).hasSize(32).isNotEqualTo(new byte[32]);
            assertThat(db.store().secret()).isEqualTo(secret);
            JdbcSchema.of(db.plain()).apply();
            assertThat(db.store().secret()).isEqualTo(secret);
            assertThat(other.store().secret()).hasSize(32).isNotEqualTo(secret);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a ping says whether the store answers")
    void aPing(Database database) {
        try (Db db = Db.fresh(database)) {
            JdbcStore store = db.store();
            store.ping();
            db.execute("ALTER TABLE idem_meta RENAME TO elsewhere");
            assertThatThrownBy(store::ping).isInstanceOf(StoreException.class).hasMessageContaining("SQLState");
        }
    }
}
