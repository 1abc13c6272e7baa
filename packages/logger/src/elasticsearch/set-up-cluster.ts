import { type ElasticsearchAccess, elasticsearchClient } from './client.js'
import { sourceError } from './cluster-error.js'
import { type DataStreamOptions, plannedSetup, type SetupOutcome, setUp } from './setup.js'
import type { SetupStep } from './setup-steps.js'

/** A cluster and the data stream to set up. */
export interface ClusterSetup extends ElasticsearchAccess, DataStreamOptions {}

/**
 * Sets up the data stream of a cluster, for `gw log-setup`. The credentials need `manage_index_templates`,
 * and `manage` on the data stream. @throws SourceError with a remedy.
 */
export function setUpCluster(options: ClusterSetup): Promise<SetupOutcome[]> {
  return withClient(options, (client) => setUp(client, { ...options, isByHand: true }))
}

/** Returns the steps that `setUpCluster` would take. @throws SourceError with a remedy. */
export function planClusterSetup(options: ClusterSetup): Promise<SetupStep[]> {
  return withClient(options, (client) => plannedSetup(client, { ...options, isByHand: true }))
}

async function withClient<T>(
  options: ClusterSetup,
  use: (client: ReturnType<typeof elasticsearchClient>) => Promise<T>,
): Promise<T> {
  const client = elasticsearchClient(options)
  try {
    return await use(client)
  } catch (error) {
    throw sourceError(error, options)
  } finally {
    await client.close()
  }
}
