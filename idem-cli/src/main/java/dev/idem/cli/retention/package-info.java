/** {@code idem retention}: removes what is older than the windows. */
@NullMarked
package dev.idem.cli.retention;

import org.jspecify.annotations.NullMarked;
