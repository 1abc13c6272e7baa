package sluice.testing;

import java.util.Collection;
import java.util.TreeMap;
import org.elasticsearch.ResourceNotFoundException;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.metadata.DataStream;
import org.elasticsearch.common.regex.Regex;

/** Which data streams the names and patterns of a request mean, in the order of their names. */
final class DataStreamNames {
    private DataStreamNames() {}

    /** @throws ResourceNotFoundException for a name, not a pattern, that no data stream has */
    static Collection<DataStream> find(ClusterState state, String... names) {
        var found = new TreeMap<String, DataStream>();
        var streams = state.metadata().dataStreams();
        for (String name : names) {
            if (Regex.isSimpleMatchPattern(name)) {
                streams.forEach((key, stream) -> {
                    if (Regex.simpleMatch(name, key)) found.put(key, stream);
                });
            } else if (streams.containsKey(name)) {
                found.put(name, streams.get(name));
            } else {
                throw new ResourceNotFoundException("no such data stream [" + name + "]");
            }
        }
        return found.values();
    }
}
