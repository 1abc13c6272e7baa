package sluice.testing;

import java.util.regex.Pattern;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.pattern.PatternCaptureGroupTokenFilter;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.analysis.TokenFilterFactory;

/** The token filter {@code pattern_capture}, by which the server splits the mail addresses of users. */
record PatternCapture(String name, Pattern[] patterns, boolean keepsOriginal) implements TokenFilterFactory {
    PatternCapture(String name, Settings settings) {
        this(
            name,
            settings.getAsList("patterns").stream().map(Pattern::compile).toArray(Pattern[]::new),
            settings.getAsBoolean("preserve_original", true)
        );
    }

    @Override
    public TokenStream create(TokenStream tokens) {
        return new PatternCaptureGroupTokenFilter(tokens, keepsOriginal, patterns);
    }
}
