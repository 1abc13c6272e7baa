import type { ServicePlan } from '@sluice/config'

/** The pods of a Service, as sent to the workers. */
export interface KnownService {
  readonly key: string
  readonly endpoints: readonly { readonly address: string; readonly port: number }[]
}

/** Called with the pods of a Service. */
export type OnEndpoints = (endpoints: KnownService['endpoints']) => void

/** Returns the key of a Service's port. */
export function serviceKey({ name, namespace, port }: ServicePlan): string {
  return `${namespace}/${name}:${port}`
}

/** The Services known to a worker, and their followers. */
export class KnownServices {
  readonly #followers = new Map<string, Set<OnEndpoints>>()
  #known = new Map<string, KnownService['endpoints']>()

  /** Replaces all known Services. */
  set(services: readonly KnownService[]): void {
    const before = this.#known
    this.#known = new Map(services.map(({ key, endpoints }) => [key, endpoints]))
    for (const [key, endpoints] of this.#known) {
      if (JSON.stringify(before.get(key)) === JSON.stringify(endpoints)) continue
      for (const onEndpoints of this.#followers.get(key) ?? []) onEndpoints(endpoints)
    }
  }

  /**
   * Calls back with a Service's pods: at once if known, and on every change. Returns a function that stops
   * this.
   */
  follow(service: ServicePlan, onEndpoints: OnEndpoints): () => void {
    const key = serviceKey(service)
    const followers = this.#followers.get(key) ?? new Set()
    this.#followers.set(key, followers.add(onEndpoints))
    const known = this.#known.get(key)
    if (known !== undefined) onEndpoints(known)
    return () => {
      followers.delete(onEndpoints)
      if (followers.size === 0 && this.#followers.get(key) === followers) this.#followers.delete(key)
    }
  }
}
