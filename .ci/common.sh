# Shared by ./idem and ./verify: makes sure that Java and Maven are there. Sourced, not run.

# fail <what went wrong> <what to do>
fail() {
    printf 'error: %s\n  fix: %s\n' "$1" "$2" >&2
    exit 1
}

can_install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null
}

# install <package>...: from Debian's packages, quietly. RUNLEVEL keeps packages from starting their services.
install() {
    {
        apt-get update -qq &&
            DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends "$@"
    } </dev/null >/dev/null 2>&1
}

# java_major <java>: 17 for "17.0.15", 8 for "1.8.0_402"
java_major() {
    "$1" -version 2>&1 | sed -n '1,/version/s/.*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p'
}

java_command() {
    if [ -n "${JAVA_HOME:-}" ]; then
        echo "$JAVA_HOME/bin/java"
    else
        command -v java || true
    fi
}

require_java() {
    local java major
    java=$(java_command)
    if [ -z "$java" ] || [ ! -x "$java" ]; then
        fail "Java was not found${JAVA_HOME:+ under JAVA_HOME=$JAVA_HOME}" \
            "install a JDK, 17 or newer (Debian: apt-get install openjdk-17-jdk-headless), or set JAVA_HOME to one"
    fi
    major=$(java_major "$java")
    if [ "${major:-0}" -lt 17 ]; then
        fail "Java 17 or newer is needed, but $java is ${major:-unknown}" "set JAVA_HOME to a newer JDK"
    fi
}

# require_build_tools: javac and mvn
require_build_tools() {
    local java
    java=$(readlink -f "$(java_command)")
    [ -x "$(dirname "$java")/javac" ] ||
        fail "$java has no compiler beside it (it is a JRE)" \
            "install a JDK (Debian: apt-get install openjdk-17-jdk-headless), or set JAVA_HOME to one"
    command -v mvn >/dev/null && return
    if can_install; then
        echo 'Installing maven …' >&2
        install maven || true
    fi
    command -v mvn >/dev/null ||
        fail "Maven (mvn) was not found" "install Maven 3.8.7 or newer (Debian: apt-get install maven)"
}
