/**
 * Entry point for commands that talk to Elasticsearch directly. Separate from index.ts, so that other code
 * does not load the Elasticsearch client.
 */

export { type ClusterSetup, planClusterSetup, setUpCluster } from './outputs/elasticsearch/set-up-cluster.js'
export { conflictText, type SetupOutcome } from './outputs/elasticsearch/setup.js'
export type { SetupStep } from './outputs/elasticsearch/setup-steps.js'
export { ElasticsearchSource, type ElasticsearchSourceOptions } from './reader/elasticsearch/source.js'
