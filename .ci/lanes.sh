# Shared by ./verify: what the lanes run. Sourced, not run.

# Tests need these programs: program, Debian package, what is skipped without it
needed='
pgbouncer pgbouncer tests through a PgBouncer connection pool
rabbitmq-server rabbitmq-server tests with a RabbitMQ broker
'
# The database versions of the long lane, beside those of the poms: from the oldest that is promised on.
old_postgres='14.0.0 15.19.0 16.15.0 17.11.0'
old_mariadb='10.11.5'

PATH=$PATH:/usr/local/sbin:/usr/sbin
missing=()
notes=()

install_needed() {
    local program package purpose packages=()
    while read -r program package purpose; do
        [ -z "$program" ] || command -v "$program" >/dev/null || packages+=("$package")
    done <<<"$needed"
    [ ${#packages[@]} -gt 0 ] || return 0
    if can_install; then
        echo "Installing ${packages[*]} …"
        install "${packages[@]}" || echo "Could not install ${packages[*]}."
    fi
    while read -r program package purpose; do
        if [ -n "$program" ] && ! command -v "$program" >/dev/null; then
            missing+=("$program")
            echo "Skipping $purpose: $program is missing (apt-get install $package)"
        fi
    done <<<"$needed"
}

# The id of the commit that lies here unchanged; nothing if something was changed, or without git.
clean_commit() {
    local status
    status=$(git status --porcelain 2>/dev/null) && [ -z "$status" ] && git rev-parse HEAD || true
}

# The newest JDK from 21 on, but 25 before all others.
second_jdk() {
    local home major best='' best_rank=0
    for home in "${JAVA_HOME_25:-}" "${JAVA_HOME_25_X64:-}" "${JAVA_HOME_21:-}" /usr/lib/jvm/*; do
        [ -x "$home/bin/java" ] || continue
        major=$(java_major "$home/bin/java")
        [ "${major:-0}" -ge 21 ] || continue
        [ "$major" != 25 ] || major=1000
        if [ "$major" -gt "$best_rank" ]; then
            best=$home best_rank=$major
        fi
    done
    echo "$best"
}

log=target/verify.log

# maven <argument>...: -T 3, since most tests wait for disks, locks and processes rather than for a processor. A failed test
# is no reason to skip the tests of other modules; .ci/TestReport.java counts it. A JVM that ended without a report is.
maven() {
    local status=0
    mvn -B -ntp -T 3 --fail-at-end -Dmaven.test.failure.ignore=true "$@" 2>&1 | tee "$log" || status=$?
    ! grep -q -e 'The forked VM terminated' -e 'There was a timeout or other error in the fork' "$log" || status=1
    return "$status"
}

# second_pass <first status> <argument>...: the same tests again, or some of them, on a newer Java
second_pass() {
    local first=$1 jdk
    shift
    jdk=$(second_jdk)
    if [ "$first" != 0 ]; then
        notes+=('Second pass: skipped: the first pass was broken off')
    elif [[ " $* " = *' -pl '*' -pl '* ]]; then
        notes+=('Second pass: skipped: some modules only were asked for')
    elif [ -z "$jdk" ]; then
        notes+=('Second pass: skipped: no JDK 21 or newer in /usr/lib/jvm, JAVA_HOME_25 or JAVA_HOME_21')
    elif [ "$(java_major "$jdk/bin/java")" = "$(java_major "$(java_command)")" ]; then
        notes+=("Second pass: skipped: the first pass ran on the same Java, $(java_major "$jdk/bin/java")")
    else
        notes+=("Second pass: run on Java $(java_major "$jdk/bin/java")")
        echo "Second pass on $jdk"
        # Nothing changed since the first pass, which compiled all of it.
        maven package -Djvm="$jdk/bin/java" -Dmaven.compiler.useIncrementalCompilation=false \
            -Didem.reports=surefire-reports-second "$@"
    fi
}

lane_quick() {
    maven verify -Didem.quick=true -Didem.database.groups=quick "$@"
}

lane_default() {
    local status=0
    maven verify "$@" || status=$?
    # All tests without a database, and of the others those tagged second-pass.
    second_pass "$status" -pl idem-core,idem-test,idem-jdbc -am -Didem.database.groups=second-pass "$@" || status=$?
    return "$status"
}

lane_long() {
    local status=0 version
    maven verify -Didem.long=true -Didem.jvm.options= "$@" || status=$?
    second_pass "$status" -Didem.jvm.options= "$@" || status=$?
    for version in $old_postgres; do
        databases "postgres-$version" "-Dpostgres-binaries.version=$version" "$@" || status=$?
    done
    for version in $old_mariadb; do
        databases "mariadb-$version" "-Dmariadb-binaries.version=$version" "$@" || status=$?
    done
    return "$status"
}

# databases <name> <argument>...: the tests of the store on another version of a database
databases() {
    local name=$1 version=$2
    shift 2
    if ! mvn -B -ntp -q dependency:resolve -pl servers "$version" >/dev/null 2>&1; then
        notes+=("Databases: $name: skipped: Maven cannot get it")
        return
    fi
    notes+=("Databases: $name: run")
    maven package -pl idem-jdbc -am -Dtest='dev/idem/jdbc/**/*Test' -Dsurefire.failIfNoSpecifiedTests=false \
        -Dmaven.compiler.useIncrementalCompilation=false -Didem.reports="surefire-reports-$name" "$version" "$@"
}
