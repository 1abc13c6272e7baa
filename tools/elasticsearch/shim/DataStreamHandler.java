package sluice.testing;

import static org.elasticsearch.rest.RestRequest.Method.DELETE;
import static org.elasticsearch.rest.RestRequest.Method.GET;
import static org.elasticsearch.rest.RestRequest.Method.PUT;

import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.datastreams.CreateDataStreamAction;
import org.elasticsearch.action.datastreams.DeleteDataStreamAction;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.health.ClusterStateHealth;
import org.elasticsearch.cluster.metadata.DataStream;
import org.elasticsearch.cluster.metadata.MetadataIndexTemplateService;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.Strings;
import org.elasticsearch.index.Index;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.rest.RestUtils;
import org.elasticsearch.rest.action.RestToXContentListener;
import org.elasticsearch.xcontent.XContentBuilder;

/** {@code /_data_stream}: create, show and delete. */
final class DataStreamHandler extends BaseRestHandler {
    private final ClusterService cluster;

    DataStreamHandler(ClusterService cluster) {
        this.cluster = cluster;
    }

    @Override
    public String getName() {
        return "sluice_data_stream";
    }

    @Override
    public List<Route> routes() {
        String named = "/_data_stream/{name}";
        return List.of(new Route(PUT, named), new Route(DELETE, named), new Route(GET, named), new Route(GET, "/_data_stream"));
    }

    @Override
    protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
        String name = request.param("name", "*");
        return switch (request.method()) {
            case PUT -> creation(request, client, name);
            case DELETE -> deletion(request, client, name);
            default -> view(request, name);
        };
    }

    private static RestChannelConsumer creation(RestRequest request, NodeClient client, String name) {
        var creation = new CreateDataStreamAction.Request(
            RestUtils.getMasterNodeTimeout(request),
            RestUtils.getAckTimeout(request),
            name
        );
        return channel -> client.execute(CreateDataStreamAction.INSTANCE, creation, new RestToXContentListener<>(channel));
    }

    private static RestChannelConsumer deletion(RestRequest request, NodeClient client, String name) {
        String[] names = Strings.splitStringByCommaToArray(name);
        var deletion = new DeleteDataStreamAction.Request(RestUtils.getMasterNodeTimeout(request), names);
        return channel -> client.execute(DeleteDataStreamAction.INSTANCE, deletion, new RestToXContentListener<>(channel));
    }

    private RestChannelConsumer view(RestRequest request, String name) {
        // A parameter that nobody reads is refused, and this one changes nothing here.
        request.param("expand_wildcards");
        return channel -> {
            ClusterState state = cluster.state();
            var body = channel.newBuilder().startObject().startArray("data_streams");
            for (DataStream stream : DataStreamNames.find(state, Strings.splitStringByCommaToArray(name))) write(body, state, stream);
            channel.sendResponse(new RestResponse(RestStatus.OK, body.endArray().endObject()));
        };
    }

    private static void write(XContentBuilder body, ClusterState state, DataStream stream) throws IOException {
        String[] backing = stream.getIndices().stream().map(Index::getName).toArray(String[]::new);
        body.startObject().field("name", stream.getName());
        body.startObject("timestamp_field").field("name", DataStream.TIMESTAMP_FIELD_NAME).endObject();
        body.startArray("indices");
        for (Index index : stream.getIndices()) {
            body.startObject().field("index_name", index.getName()).field("index_uuid", index.getUUID()).endObject();
        }
        body.endArray();
        body.field("generation", stream.getGeneration());
        body.field("status", new ClusterStateHealth(state, backing).getStatus().name());
        body.field("template", MetadataIndexTemplateService.findV2Template(state.metadata(), stream.getName(), false));
        body.field("hidden", stream.isHidden()).field("system", stream.isSystem()).field("replicated", stream.isReplicated());
        body.endObject();
    }
}
