package sluice.testing;

import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.datastreams.CreateDataStreamAction;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.master.AcknowledgedResponse;
import org.elasticsearch.action.support.master.AcknowledgedTransportMasterNodeAction;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.block.ClusterBlockException;
import org.elasticsearch.cluster.block.ClusterBlockLevel;
import org.elasticsearch.cluster.metadata.MetadataCreateDataStreamService;
import org.elasticsearch.cluster.metadata.MetadataCreateDataStreamService.CreateDataStreamClusterStateUpdateRequest;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/** Creates a data stream by the server's own service, as its module for data streams does. */
public final class DataStreamCreation extends AcknowledgedTransportMasterNodeAction<CreateDataStreamAction.Request> {
    private final MetadataCreateDataStreamService service;

    @Inject
    public DataStreamCreation(
        TransportService transport,
        ClusterService cluster,
        ThreadPool threads,
        ActionFilters filters,
        MetadataCreateDataStreamService service
    ) {
        super(
            CreateDataStreamAction.NAME,
            transport,
            cluster,
            threads,
            filters,
            CreateDataStreamAction.Request::new,
            threads.generic()
        );
        this.service = service;
    }

    @Override
    protected void masterOperation(
        Task task,
        CreateDataStreamAction.Request request,
        ClusterState state,
        ActionListener<AcknowledgedResponse> listener
    ) {
        boolean performsReroute = true;
        var update = new CreateDataStreamClusterStateUpdateRequest(
            request.getName(),
            null,
            request.masterNodeTimeout(),
            request.ackTimeout(),
            performsReroute
        );
        service.createDataStream(update, listener);
    }

    @Override
    protected ClusterBlockException checkBlock(CreateDataStreamAction.Request request, ClusterState state) {
        return state.blocks().globalBlockedException(ClusterBlockLevel.METADATA_WRITE);
    }
}
