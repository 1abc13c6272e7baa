import { randomUUID } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import { visibleText } from '@sluice/core'
import { EXIT, Failure } from '../../output/failure.js'
import type { Cluster, LiveObject } from '../cluster/cluster.js'
import { type KubernetesObject, metadataOf, type ObjectIdentity } from '../objects/object.js'

/** Extra lifetime of the Lease beyond the deployment timeout, for deployments that were killed. */
const MARGIN_MS = 60_000

/** Options for `DeployLock.take`. */
export interface DeployLockOptions {
  /** Deployment timeout in milliseconds. */
  readonly timeoutMs: number
  /** True to take over the lock from a running deployment. */
  readonly isForced: boolean
  readonly say: (line: string) => void
}

/**
 * Lock that prevents concurrent deployments of a gateway. It is a Lease (coordination.k8s.io/v1): server-side apply
 * rejects a second field manager.
 */
export class DeployLock {
  readonly #cluster: Cluster
  /** Null if there is no permission for Leases. Then there is no lock. */
  readonly #lease: KubernetesObject | null

  private constructor(cluster: Cluster, lease: KubernetesObject | null) {
    this.#cluster = cluster
    this.#lease = lease
  }

  /** Acquires the lock. @throws Failure with the holder and the start time of a running deployment */
  static async take(
    cluster: Cluster,
    identity: ObjectIdentity,
    { timeoutMs, isForced, say }: DeployLockOptions,
  ): Promise<DeployLock> {
    // A rollback takes up to another timeout.
    const lease = leaseOf(identity, 2 * timeoutMs + MARGIN_MS)
    const manager = `gw-deploy-${randomUUID()}`
    const apply = (object: KubernetesObject, force: boolean) =>
      cluster.apply(object, { isTrial: false, isForced: force, manager })
    try {
      await apply(lease, isForced)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      if (error.exit === EXIT.unauthorised) {
        say(`no protection against concurrent deployments: ${error.message}`)
        return new DeployLock(cluster, null)
      }
      const live = await cluster.read(lease)
      if (live !== null && !hasEnded(live)) throw heldBy(live)
      // With the resource version, only one of several waiting deployments gets an expired lock.
      const { resourceVersion } = live?.metadata ?? {}
      await apply({ ...lease, metadata: { ...lease.metadata, ...{ resourceVersion } } }, live !== null)
    }
    return new DeployLock(cluster, lease)
  }

  /** Releases the lock, unless another deployment has taken it over. */
  async release(): Promise<void> {
    if (this.#lease === null) return
    const live = await this.#cluster.read(this.#lease)
    if (live !== null && specOf(live).holderIdentity === specOf(this.#lease).holderIdentity)
      await this.#cluster.remove(live)
  }
}

interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly acquireTime?: string
  readonly renewTime?: string
}

function specOf(lease: KubernetesObject | LiveObject): LeaseSpec {
  return (lease['spec'] ?? {}) as LeaseSpec
}

function leaseOf(identity: ObjectIdentity, durationMs: number): KubernetesObject {
  // MicroTime has six decimal places.
  const now = new Date().toISOString().replace('Z', '000Z')
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: metadataOf(identity, '-deploy'),
    spec: {
      holderIdentity: `${userInfo().username}@${hostname()}/${randomUUID().slice(0, 8)}`,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      acquireTime: now,
      renewTime: now,
    },
  }
}

function hasEnded(lease: LiveObject): boolean {
  const { renewTime = '', leaseDurationSeconds = 0 } = specOf(lease)
  const endMs = Date.parse(renewTime) + leaseDurationSeconds * 1000
  return Number.isNaN(endMs) || Date.now() >= endMs
}

function heldBy(lease: LiveObject): Failure {
  const { holderIdentity = 'somebody', acquireTime = '' } = specOf(lease)
  const who = visibleText(holderIdentity.split('/')[0]!)
  const text = `${who} has been deploying since ${visibleText(acquireTime.slice(0, 19))}Z; wait until it has finished, or take over with --force`
  return new Failure(text)
}
