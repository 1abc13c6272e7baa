import type { ServicePlan } from '@sluice/config'

/** The pods of a Service, as the supervisor tells the workers. */
export interface KnownService {
  readonly key: string
  readonly endpoints: readonly { readonly address: string; readonly port: number }[]
}

/** Hears of the pods of a Service. */
export type OnEndpoints = (endpoints: KnownService['endpoints']) => void

/** What distinguishes the port of a Service from others. */
export function serviceKey({ name, namespace, port }: ServicePlan): string {
  return `${namespace}/${name}:${port}`
}

/** What a worker knows of Services, and who wants to hear of them. */
export class KnownServices {
  readonly #followers = new Map<string, Set<OnEndpoints>>()
  #known = new Map<string, KnownService['endpoints']>()

  /** Replaces everything that was known. */
  set(services: readonly KnownService[]): void {
    const before = this.#known
    this.#known = new Map(services.map(({ key, endpoints }) => [key, endpoints]))
    for (const [key, endpoints] of this.#known) {
      if (isSame(before.get(key), endpoints)) continue
      for (const onEndpoints of this.#followers.get(key) ?? []) onEndpoints(endpoints)
    }
  }

  /** Hears of a Service at once, if it is known, and whenever its pods change. Returns what ends it. */
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

function isSame(a: KnownService['endpoints'] | undefined, b: KnownService['endpoints']): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
