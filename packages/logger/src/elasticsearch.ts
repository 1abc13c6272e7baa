/** For commands that talk to a cluster themselves; apart, so that nobody else loads the client of Elasticsearch. */

export { type ClusterSetup, planClusterSetup, setUpCluster } from './outputs/elasticsearch/set-up-cluster.js'
export { conflictText, type SetupOutcome } from './outputs/elasticsearch/setup.js'
export type { SetupStep } from './outputs/elasticsearch/setup-steps.js'
export { ElasticsearchSource, type ElasticsearchSourceOptions } from './reader/elasticsearch/source.js'
