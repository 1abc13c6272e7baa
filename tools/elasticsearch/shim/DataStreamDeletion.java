package sluice.testing;

import java.util.HashSet;
import java.util.Set;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.datastreams.DeleteDataStreamAction;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.master.AcknowledgedResponse;
import org.elasticsearch.action.support.master.AcknowledgedTransportMasterNodeAction;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.ClusterStateUpdateTask;
import org.elasticsearch.cluster.block.ClusterBlockException;
import org.elasticsearch.cluster.block.ClusterBlockLevel;
import org.elasticsearch.cluster.metadata.DataStream;
import org.elasticsearch.cluster.metadata.Metadata;
import org.elasticsearch.cluster.metadata.MetadataDeleteIndexService;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.index.Index;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/** Deletes data streams and the indices behind them in one change of the cluster state. */
public final class DataStreamDeletion extends AcknowledgedTransportMasterNodeAction<DeleteDataStreamAction.Request> {
    @Inject
    public DataStreamDeletion(TransportService transport, ClusterService cluster, ThreadPool threads, ActionFilters filters) {
        super(
            DeleteDataStreamAction.NAME,
            transport,
            cluster,
            threads,
            filters,
            DeleteDataStreamAction.Request::new,
            threads.generic()
        );
    }

    @Override
    protected void masterOperation(
        Task task,
        DeleteDataStreamAction.Request request,
        ClusterState state,
        ActionListener<AcknowledgedResponse> listener
    ) {
        var update = new ClusterStateUpdateTask(request.masterNodeTimeout()) {
            @Override
            public ClusterState execute(ClusterState current) {
                return without(current, request.getNames());
            }

            @Override
            public void onFailure(Exception problem) {
                listener.onFailure(problem);
            }

            @Override
            public void clusterStateProcessed(ClusterState before, ClusterState after) {
                listener.onResponse(AcknowledgedResponse.TRUE);
            }
        };
        clusterService.submitUnbatchedStateUpdateTask("delete data streams", update);
    }

    private ClusterState without(ClusterState state, String... names) {
        var metadata = Metadata.builder(state.metadata());
        Set<Index> backing = new HashSet<>();
        for (DataStream stream : DataStreamNames.find(state, names)) {
            metadata.removeDataStream(stream.getName());
            backing.addAll(stream.getIndices());
            backing.addAll(stream.getFailureIndices());
        }
        var remaining = ClusterState.builder(state).metadata(metadata).build();
        return MetadataDeleteIndexService.deleteIndices(remaining, backing, clusterService.getSettings());
    }

    @Override
    protected ClusterBlockException checkBlock(DeleteDataStreamAction.Request request, ClusterState state) {
        return state.blocks().globalBlockedException(ClusterBlockLevel.METADATA_WRITE);
    }
}
