import type { OutputOptions, ServerOptions } from '../input/options.js'
import { type Cluster, type ClusterOptions, openCluster } from '../kubernetes/cluster/cluster.js'
import type { ObjectIdentity } from '../kubernetes/objects/object.js'

/** Options of every command on a gateway in a cluster. */
export interface KubernetesOptions extends ClusterOptions, OutputOptions, ServerOptions {
  readonly namespace?: string
  readonly name?: string
  /** Time limit for the pods in milliseconds. */
  readonly timeout?: number
}

/** Value of the label `app.kubernetes.io/managed-by`. */
const MANAGED_BY = 'gw'
const NAME = 'sluice'
/** Default time limit for the pods in milliseconds. */
export const TIMEOUT_MS = 300_000

/** Returns the selected gateway. @param standard default namespace */
export function identityOf({ name = NAME, namespace }: KubernetesOptions, standard: string): ObjectIdentity {
  return { name, namespace: namespace ?? standard, managedBy: MANAGED_BY }
}

/** Opens the selected cluster, runs a function on it and closes it. */
export async function withCluster<T>(
  options: KubernetesOptions,
  run: (cluster: Cluster, identity: ObjectIdentity) => Promise<T>,
): Promise<T> {
  const cluster = await openCluster(options)
  try {
    return await run(cluster, identityOf(options, cluster.namespace))
  } finally {
    cluster.close()
  }
}
