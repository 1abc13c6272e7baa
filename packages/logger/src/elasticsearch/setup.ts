import type { Client } from '@elastic/elasticsearch'
import { TRAFFIC_MAPPING } from './mapping.js'
import { type SetupStep, setupSteps } from './setup-steps.js'

/** Data stream settings. */
export interface DataStreamOptions {
  readonly dataStream: string
  /** Retention in days, or null to keep records forever. */
  readonly retentionDays: number | null
  /** Replicas of each shard; 0 on a single node. */
  readonly replicas: number
  /** True if an operator requested the setup, false if a starting worker did; default false. */
  readonly isByHand?: boolean
}

/**
 * A setup step and its outcome. `unavailable`: the cluster does not support it. `conflict`: see
 * `conflictText`.
 */
export interface SetupOutcome extends SetupStep {
  readonly outcome: 'done' | 'kept' | 'unavailable' | 'conflict'
}

/** Higher than the priority of Elasticsearch's built-in template for `logs-*-*`, which is 100. */
const TEMPLATE_PRIORITY = 500

/**
 * Creates or updates the index template, its lifecycle and the data stream. Sends nothing if all are up to
 * date. Uses the data stream lifecycle (Elasticsearch 8.14 and later) instead of an ILM policy, because every
 * distribution has it. @throws ResponseError if the credentials lack a privilege.
 */
export async function setUp(client: Client, options: DataStreamOptions): Promise<SetupOutcome[]> {
  const outcomes: SetupOutcome[] = []
  for (const step of await plannedSetup(client, options)) {
    outcomes.push({ ...step, outcome: await take(client, step) })
  }
  return outcomes
}

/** Returns the steps that `setUp` would take. Only reads from the cluster. */
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
        // Fields beyond the limit are stored but not indexed, so that no record is rejected because of them.
        'index.mapping.total_fields.limit': 500,
        'index.mapping.total_fields.ignore_dynamic_beyond_limit': true,
        'index.codec': 'best_compression',
        // The refresh interval is left unset. Elasticsearch then refreshes an index every second while it is
        // searched, and not otherwise, which saves work for every record.
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
    // Another worker may have created it in the meantime.
    if (what === 'data stream' && message.includes('resource_already_exists_exception')) return 'kept'
    // Distributions without the data stream lifecycle module keep records forever.
    if (what === 'lifecycle' && message.includes('no handler found'))
      return request.body !== null && 'data_retention' in request.body ? 'unavailable' : 'kept'
    throw error
  }
}

/** Returns the remedy for an unrelated template that overrides ours. */
export function conflictText({ name }: SetupStep, dataStream: string): string {
  return `the index template '${name}' overrides that of the traffic log with mappings unsuitable for the data stream ${dataStream}; delete it, exclude the data stream from its patterns, or set its priority below ${TEMPLATE_PRIORITY}`
}
