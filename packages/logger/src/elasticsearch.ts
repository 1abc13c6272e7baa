/** For commands that talk to a cluster themselves; apart, so that nobody else loads the client of Elasticsearch. */
export { ElasticsearchSource, type ElasticsearchSourceOptions } from './reader/elasticsearch/source.js'
export { type ClusterSetup, planClusterSetup, setUpCluster } from './target/elasticsearch/set-up-cluster.js'
export { conflictText, type SetupOutcome } from './target/elasticsearch/setup.js'
export type { SetupStep } from './target/elasticsearch/setup-steps.js'
