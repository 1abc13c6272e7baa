/**
 * Entry point for commands that talk to Elasticsearch directly. Separate from index.ts, so that other code
 * does not load the Elasticsearch client.
 */

export {
  type ClusterSetup,
  conflictText,
  planClusterSetup,
  type SetupOutcome,
  setUpCluster,
} from './elasticsearch/setup.js'
export type { SetupStep } from './elasticsearch/setup-steps.js'
export { ElasticsearchSource, type ElasticsearchSourceOptions } from './reader/elasticsearch/source.js'
