# Shared by .ci/api, .ci/release and .ci/reproducible: what is published. Sourced, not run.

# The modules that are published, with commas between them.
published() {
    grep -L '<maven.deploy.skip>true<' idem-*/pom.xml | sed 's#/pom.xml##' | paste -sd, -
}

# of_pom <element>: the first of that name in the root pom; nothing if it is empty
of_pom() {
    sed -n "s#.*<$1>\([^<]*\)</$1>.*#\1#p" pom.xml | head -n 1
}
