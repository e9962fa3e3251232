package dev.idem.test;

import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.Guarantee;
import dev.idem.spi.Marker;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.StoredResult;
import dev.idem.spi.UnitOfWork;
import dev.idem.test.contract.MarkerStoreContract;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Instant;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** Stores with one mistake each, made on purpose. Run only by {@link PlantedDefectsTest}, which wants them to fail. */
final class PlantedStores {
    private PlantedStores() {}

    /** The real store, in which a subclass spoils one thing. */
    abstract static class Spoiled implements MarkerStore {
        final MemoryStore real = new MemoryStore();

        @Override
        public Claim claim(ClaimRequest request) {
            return real.claim(request);
        }

        @Override
        public Guarantee guarantee() {
            return real.guarantee();
        }

        @Override
        public String describe() {
            return "a store with a planted defect";
        }

        @Override
        public void register(String consumer) {}

        @Override
        public boolean isTransient(Throwable failure) {
            return real.isTransient(failure);
        }

        @Override
        public boolean isConnectionLost(Throwable failure) {
            return real.isConnectionLost(failure);
        }

        @Override
        public boolean isOutOfResources(Throwable failure) {
            return real.isOutOfResources(failure);
        }

        @Override
        public int largestResult() {
            return real.largestResult();
        }

        @Override
        public void close() {}

        static Claim spoiled(Claim claim, UnaryOperator<UnitOfWork> how) {
            return claim instanceof Claim.Granted granted ? new Claim.Granted(how.apply(granted.unit())) : claim;
        }

        static ClaimRequest with(ClaimRequest request, MarkerKey key) {
            return new ClaimRequest(key, request.fingerprint(), request.busyWait(), request.withResult());
        }
    }

    /** A unit that can be spoiled. */
    static class Forwarding implements UnitOfWork {
        final UnitOfWork unit;

        Forwarding(UnitOfWork unit) {
            this.unit = unit;
        }

        @Override
        public String claimId() {
            return unit.claimId();
        }

        @Override
        public Connection connection() {
            return unit.connection();
        }

        @Override
        public DataSource dataSource() {
            return unit.dataSource();
        }

        @Override
        public boolean used() {
            return unit.used();
        }

        @Override
        public void revoke() {
            unit.revoke();
        }

        @Override
        public void commit(StoredResult result) {
            unit.commit(result);
        }

        @Override
        public void rollback() {
            unit.rollback();
        }

        @Override
        public void abandon() {
            unit.abandon();
        }

        @Override
        public void close() {
            unit.close();
        }
    }

    abstract static class Planted extends MarkerStoreContract {
        private final MarkerStore store = plant();

        abstract MarkerStore plant();

        @Override
        protected MarkerStore store() {
            return store;
        }

        @Override
        protected MarkerStore unrelatedStore() {
            return new MemoryStore();
        }
    }

    /** Looks first and marks at the end: between the two, everybody passes. */
    static class MarkerAfterEffect extends Planted {
        @Override
        MarkerStore plant() {
            return new Spoiled() {
                @Override
                public Claim claim(ClaimRequest request) {
                    Claim claim = real.claim(request);
                    if (!(claim instanceof Claim.Granted granted)) {
                        return claim;
                    }
                    granted.unit().rollback(); // seen by nobody until the end
                    return new Claim.Granted(new Forwarding(granted.unit()) {
                        @Override
                        public void commit(StoredResult result) {
                            if (real.claim(request) instanceof Claim.Granted late) {
                                late.unit().commit(result);
                            }
                        }
                    });
                }
            };
        }
    }

    /** Takes a running owner for a finished one. */
    static class BusyIsDuplicate extends Planted {
        @Override
        MarkerStore plant() {
            return new Spoiled() {
                @Override
                public Claim claim(ClaimRequest request) {
                    Claim claim = real.claim(request);
                    return claim instanceof Claim.Busy ? madeUp(request) : claim;
                }
            };
        }
    }

    /** A marker that nobody read. */
    private static Claim madeUp(ClaimRequest request) {
        return new Claim.Taken(
                new Marker(request.key().readable(), request.fingerprint(), Instant.now(), "unknown", null));
    }

    /** Concludes from not having inserted anything that the key is taken. */
    static class DuplicateWithoutReading extends Planted {
        @Override
        MarkerStore plant() {
            return new Spoiled() {
                @Override
                public Claim claim(ClaimRequest request) {
                    Claim claim = real.claim(request);
                    return claim instanceof Claim.Taken ? madeUp(request) : claim;
                }
            };
        }
    }

    /** Compares the readable text as a case-insensitive, padding collation does. */
    static class CaseInsensitiveKeys extends Planted {
        @Override
        MarkerStore plant() {
            return collating(text -> text.toLowerCase(Locale.ROOT));
        }
    }

    static class PaddedKeys extends Planted {
        @Override
        MarkerStore plant() {
            return collating(String::stripTrailing);
        }
    }

    /** Cuts the readable text where the column ends. */
    static class TruncatedKeys extends Planted {
        @Override
        MarkerStore plant() {
            return collating(text -> text.substring(0, Math.min(255, text.length())));
        }
    }

    private static MarkerStore collating(UnaryOperator<String> collation) {
        return new Spoiled() {
            @Override
            public Claim claim(ClaimRequest request) {
                String readable = request.key().readable();
                if (readable == null) {
                    return real.claim(request);
                }
                String collated = collation.apply(readable);
                UUID value = UUID.nameUUIDFromBytes(collated.getBytes(StandardCharsets.UTF_8));
                Claim claim =
                        real.claim(with(request, new MarkerKey(request.key().consumer(), value, readable)));
                return claim instanceof Claim.Taken taken ? new Claim.Taken(renamed(taken.marker(), readable)) : claim;
            }
        };
    }

    private static Marker renamed(Marker m, String readable) {
        return new Marker(readable, m.fingerprint(), m.markedAt(), m.claimId(), m.result());
    }

    /** One key space for all consumers. */
    static class SharedKeySpace extends Planted {
        @Override
        MarkerStore plant() {
            return new Spoiled() {
                @Override
                public Claim claim(ClaimRequest request) {
                    MarkerKey key = request.key();
                    return real.claim(with(request, new MarkerKey("all", key.value(), key.readable())));
                }
            };
        }
    }

    /** Answers duplicates without their fingerprint, so nobody can compare. */
    static class FingerprintForgotten extends Planted {
        @Override
        MarkerStore plant() {
            return new Spoiled() {
                @Override
                public Claim claim(ClaimRequest request) {
                    return real.claim(new ClaimRequest(request.key(), null, request.busyWait(), request.withResult()));
                }
            };
        }
    }

    /** Keeps the key in a cache of its own before the commit, and does not take it out after a rollback. */
    static class CacheBeforeCommit extends Planted {
        @Override
        MarkerStore plant() {
            return new Spoiled() {
                private final Set<MarkerKey> cache = ConcurrentHashMap.newKeySet();

                @Override
                public Claim claim(ClaimRequest request) {
                    Claim claim = real.claim(request);
                    boolean known = !cache.add(request.key());
                    if (claim instanceof Claim.Granted granted && known) {
                        granted.unit().close();
                        return madeUp(request);
                    }
                    return claim;
                }
            };
        }
    }

    /** Leaves the marker behind when the handler fails. */
    static class RollbackCommits extends Planted {
        @Override
        MarkerStore plant() {
            return new Spoiled() {
                @Override
                public Claim claim(ClaimRequest request) {
                    return spoiled(real.claim(request), granted -> new Forwarding(granted) {
                        @Override
                        public void rollback() {
                            unit.commit(null);
                        }
                    });
                }
            };
        }
    }

    /** Lets everybody in at once. */
    static class NoExclusion extends Planted {
        @Override
        MarkerStore plant() {
            return new Spoiled() {
                @Override
                public Claim claim(ClaimRequest request) {
                    Claim claim = real.claim(request);
                    return claim instanceof Claim.Busy
                            ? real.claim(with(request, new MarkerKey("aside", UUID.randomUUID(), null)))
                            : claim;
                }
            };
        }
    }

    /** Writes local time and reads it as if it were universal. */
    static class LocalTime extends Planted {
        @Override
        MarkerStore plant() {
            return new Spoiled() {
                @Override
                public Claim claim(ClaimRequest request) {
                    Claim claim = real.claim(request);
                    if (!(claim instanceof Claim.Taken taken)) {
                        return claim;
                    }
                    Marker m = taken.marker();
                    Instant shifted = m.markedAt()
                            .plusMillis(java.util.TimeZone.getDefault()
                                    .getOffset(m.markedAt().toEpochMilli()));
                    return new Claim.Taken(new Marker(m.readable(), m.fingerprint(), shifted, m.claimId(), m.result()));
                }
            };
        }
    }

    /** Hands out the result as it was not. */
    static class ResultCut extends Planted {
        @Override
        MarkerStore plant() {
            return new Spoiled() {
                @Override
                public Claim claim(ClaimRequest request) {
                    return spoiled(real.claim(request), granted -> new Forwarding(granted) {
                        @Override
                        public void commit(StoredResult result) {
                            unit.commit(
                                    result == null
                                            ? null
                                            : new StoredResult(
                                                    result.codec(),
                                                    Arrays.copyOf(
                                                            result.bytes(), Math.min(4000, result.bytes().length))));
                        }
                    });
                }
            };
        }
    }

    /** Ignores being abandoned. */
    static class AbandonIgnored extends Planted {
        @Override
        MarkerStore plant() {
            return new Spoiled() {
                @Override
                public Claim claim(ClaimRequest request) {
                    return spoiled(real.claim(request), granted -> new Forwarding(granted) {
                        @Override
                        public void abandon() {}
                    });
                }
            };
        }
    }

    /** Gives back the same thing twice, the second time out of another's hands. */
    static class ClosesWhatIsNotItsOwn extends Planted {
        @Override
        MarkerStore plant() {
            return new Spoiled() {
                private UnitOfWork inUse;

                @Override
                public Claim claim(ClaimRequest request) {
                    return spoiled(real.claim(request), granted -> {
                        inUse = granted;
                        return new Forwarding(granted) {
                            @Override
                            public void close() {
                                inUse.close();
                            }
                        };
                    });
                }
            };
        }
    }

    /** Keeps every key it has seen. */
    static class KeyLeak extends Planted {
        @Override
        MarkerStore plant() {
            return new Spoiled() {
                private final Set<MarkerKey> all = ConcurrentHashMap.newKeySet();

                @Override
                public Claim claim(ClaimRequest request) {
                    all.add(request.key());
                    return real.claim(request);
                }
            };
        }
    }
}
