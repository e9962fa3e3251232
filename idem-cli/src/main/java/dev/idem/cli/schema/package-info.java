/** {@code idem schema}: prints, creates and checks the tables. */
@NullMarked
package dev.idem.cli.schema;

import org.jspecify.annotations.NullMarked;
