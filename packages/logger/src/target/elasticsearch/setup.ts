import type { Client } from '@elastic/elasticsearch'
import { TRAFFIC_MAPPING } from './mapping.js'

/** What Elasticsearch is told to keep, and for how long. */
export interface DataStreamOptions {
  readonly dataStream: string
  /** Records are deleted after this time, in days; null keeps them. */
  readonly retentionDays: number | null
  /** Copies of each shard; 0 on a single node. */
  readonly replicas: number
}

/** What `setUp` made or renewed, for people. */
export interface SetupReport {
  readonly template: string
  readonly dataStream: string
  readonly isNew: boolean
}

/** Above Elasticsearch's own template for `logs-*-*`, which has 100. */
const TEMPLATE_PRIORITY = 500

/**
 * Creates the index template, with the lifecycle that rolls over and deletes, and the data stream, or renews them; what
 * is there already stays. The lifecycle is the data stream's own (Elasticsearch 8.14 and later), which every
 * distribution has, and not a policy of ILM. @throws ResponseError when the credentials may not do so.
 */
export async function setUp(client: Client, options: DataStreamOptions): Promise<SetupReport> {
  const { dataStream, replicas, retentionDays } = options
  const template = `${dataStream}-template`
  await client.indices.putIndexTemplate({
    name: template,
    index_patterns: [dataStream],
    data_stream: {},
    priority: TEMPLATE_PRIORITY,
    template: {
      settings: {
        'index.number_of_replicas': replicas,
        // A field beyond the bound is kept in the document and not indexed, so that no record is refused for it.
        'index.mapping.total_fields.limit': 500,
        'index.mapping.total_fields.ignore_dynamic_beyond_limit': true,
        'index.codec': 'best_compression',
        'index.refresh_interval': '1s',
      },
      mappings: TRAFFIC_MAPPING,
      lifecycle: retentionDays === null ? {} : { data_retention: `${retentionDays}d` },
    },
    _meta: { managed_by: 'sluice' },
  })
  const isNew = !(await client.indices.exists({ index: dataStream }))
  if (isNew) await createDataStream(client, dataStream)
  return { template, dataStream, isNew }
}

/** Another worker may be faster. */
async function createDataStream(client: Client, name: string): Promise<void> {
  await client.indices.createDataStream({ name }).catch((error: Error) => {
    if (!error.message.includes('resource_already_exists_exception')) throw error
  })
}
