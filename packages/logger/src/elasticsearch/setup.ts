import type { Client } from '@elastic/elasticsearch'
import { type ElasticsearchAccess, elasticsearchClient } from './client.js'
import { sourceError } from './cluster-error.js'
import { TEMPLATE_PRIORITY } from './foreign-template.js'
import { type DataStreamOptions, type SetupStep, setupSteps } from './setup-steps.js'

/**
 * A setup step and its outcome. `unavailable`: the cluster does not support it. `conflict`: see
 * `conflictText`.
 */
export interface SetupOutcome extends SetupStep {
  readonly outcome: 'done' | 'kept' | 'unavailable' | 'conflict'
}

/** A cluster and the data stream to set up. */
export interface ClusterSetup extends ElasticsearchAccess, DataStreamOptions {}

/**
 * Creates or updates the index template, its lifecycle and the data stream. Sends nothing if all are up to
 * date. Uses the data stream lifecycle (Elasticsearch 8.14 and later) instead of an ILM policy, because every
 * distribution has it. @throws ResponseError if the credentials lack a privilege.
 */
export async function setUp(client: Client, options: DataStreamOptions): Promise<SetupOutcome[]> {
  const outcomes: SetupOutcome[] = []
  for (const step of await setupSteps(client, options)) {
    outcomes.push({ ...step, outcome: await take(client, step) })
  }
  return outcomes
}

/**
 * Sets up the data stream of a cluster, for `gw log-setup`. The credentials need `manage_index_templates`,
 * and `manage` on the data stream. @throws SourceError with a remedy.
 */
export function setUpCluster(options: ClusterSetup): Promise<SetupOutcome[]> {
  return withClient(options, (client) => setUp(client, { ...options, isByHand: true }))
}

/** Returns the steps that `setUpCluster` would take. @throws SourceError with a remedy. */
export function planClusterSetup(options: ClusterSetup): Promise<SetupStep[]> {
  return withClient(options, (client) => setupSteps(client, { ...options, isByHand: true }))
}

async function withClient<T>(options: ClusterSetup, use: (client: Client) => Promise<T>): Promise<T> {
  const client = elasticsearchClient(options)
  try {
    return await use(client)
  } catch (error) {
    throw sourceError(error, options)
  } finally {
    await client.close()
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
