import { type Cluster, type ClusterOptions, openCluster } from '../kubernetes/cluster/cluster.js'
import type { ObjectIdentity } from '../kubernetes/objects/object.js'
import type { OutputOptions, ServerOptions } from '../program/building.js'

/** Options of every command on a gateway in a cluster. */
export interface KubernetesOptions extends ClusterOptions, OutputOptions, ServerOptions {
  readonly namespace?: string
  readonly name?: string
  /** How long pods may take, ms. */
  readonly timeout?: number
}

/** Who writes the objects. */
const MANAGED_BY = 'gw'
const NAME = 'sluice'
export const TIMEOUT_MS = 300_000

/** Which gateway is meant. @param standard the namespace where the command line names none. */
export function identityOf({ name = NAME, namespace }: KubernetesOptions, standard: string): ObjectIdentity {
  return { name, namespace: namespace ?? standard, managedBy: MANAGED_BY }
}

/** Runs something on the cluster that is meant. */
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
