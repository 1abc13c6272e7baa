import type { Client } from '@elastic/elasticsearch'
import { TRAFFIC_MAPPING } from './mapping.js'
import { type SetupStep, setupSteps } from './setup-steps.js'

/** What Elasticsearch is asked to keep, and for how long. */
export interface DataStreamOptions {
  readonly dataStream: string
  /** Records are deleted after this time, in days; null keeps them. */
  readonly retentionDays: number | null
  /** Copies of each shard; 0 on a single node. */
  readonly replicas: number
  /** A person set it up, and not each worker of a gateway that starts; default false. */
  readonly isByHand?: boolean
}

/** A step, and what became of it; `unavailable`: the cluster does not know such a thing; `conflict`: see `conflictText`. */
export interface SetupOutcome extends SetupStep {
  readonly outcome: 'done' | 'kept' | 'unavailable' | 'conflict'
}

/** Above Elasticsearch's own template for `logs-*-*`, which has 100. */
const TEMPLATE_PRIORITY = 500

/**
 * Creates the index template, with the lifecycle that rolls over and deletes, and the data stream, or renews what
 * differs; nothing is sent when nothing does. The lifecycle is the data stream's own (Elasticsearch 8.14 and later),
 * which every distribution has, and not a policy of ILM. @throws ResponseError when the credentials may not do so.
 */
export async function setUp(client: Client, options: DataStreamOptions): Promise<SetupOutcome[]> {
  const outcomes: SetupOutcome[] = []
  for (const step of await plannedSetup(client, options)) {
    outcomes.push({ ...step, outcome: await take(client, step) })
  }
  return outcomes
}

/** What `setUp` would do now. It reads, and changes nothing. */
export function plannedSetup(client: Client, options: DataStreamOptions): Promise<SetupStep[]> {
  const { dataStream, retentionDays } = options
  const retention = retentionDays === null ? null : `${retentionDays}d`
  return setupSteps(client, {
    ...{ dataStream, retention, template: templateOf(options, retention) },
    ...{ priority: TEMPLATE_PRIORITY, mappings: TRAFFIC_MAPPING, isByHand: options.isByHand === true },
  })
}

function templateOf({ dataStream, replicas }: DataStreamOptions, retention: string | null): object {
  return {
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
        // No interval of refreshing is named: then an index is refreshed every second while somebody reads it, and left
        // alone otherwise, which saves the node work on every record.
      },
      mappings: TRAFFIC_MAPPING,
      lifecycle: { enabled: true, ...(retention === null ? {} : { data_retention: retention }) },
    },
    _meta: { managed_by: 'sluice' },
  }
}

async function take(client: Client, { what, action, request }: SetupStep): Promise<SetupOutcome['outcome']> {
  if (action === 'conflict') return 'conflict'
  if (request === null) return 'kept'
  try {
    const { body, ...rest } = request
    await client.transport.request(body === null ? rest : { ...rest, body })
    return 'done'
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    // Another worker may be faster.
    if (what === 'data stream' && message.includes('resource_already_exists_exception')) return 'kept'
    // Archives without the module of data streams keep records for ever, whatever they are asked.
    if (what === 'lifecycle' && message.includes('no handler found'))
      return request.body !== null && 'data_retention' in request.body ? 'unavailable' : 'kept'
    throw error
  }
}

/** What an operator has to do about the template of somebody else that wins over ours. */
export function conflictText({ name }: SetupStep, dataStream: string): string {
  return `the index template '${name}' wins over that of the traffic log, and records would not fit the data stream ${dataStream}; delete it, take the stream out of its patterns, or give it a priority below ${TEMPLATE_PRIORITY}`
}
