import { setTimeout as delay } from 'node:timers/promises'
import type { LogIdentity } from '@sluice/core'
import { assertIdentity } from '@sluice/core/testing'
import { until } from '../testing.js'

/** Pause between two looks in milliseconds. It leaves CPU time for the gateway. */
const LOOK_EVERY_MS = 100

/** Reads the counters of a gateway again and again, and keeps every one that went backwards. */
export class CounterWatch {
  readonly fallen = new Set<string>()
  readonly #gateway: { readonly admin: string }
  readonly #last = new Map<string, number>()

  constructor(gateway: { readonly admin: string }) {
    this.#gateway = gateway
  }

  /** Reads the counters, and returns the counts of the traffic log after checking that they add up. */
  async look(): Promise<LogIdentity> {
    const metrics = await (await fetch(`${this.#gateway.admin}/metrics`)).text()
    // A single target has no label.
    const text = metrics.replaceAll('{target="main"}', '').replaceAll('target="main",', '')
    for (const [, series = '', value] of text.matchAll(/^(gw_\w+_total\S*) (\S+)$/gm)) {
      const before = this.#last.get(series) ?? 0
      if (Number(value) < before) this.fallen.add(`${series}: ${before}, then ${value}`)
      this.#last.set(series, Number(value))
    }
    for (const series of this.#last.keys())
      if (!text.includes(`\n${series} `)) this.fallen.add(`${series} is gone`)
    const log = (await (await fetch(`${this.#gateway.admin}/v1/log`)).json()) as LogIdentity
    assertIdentity(log)
    return log
  }

  /** Looks until the counts meet a condition, and returns them. */
  async until(
    condition: (log: LogIdentity) => boolean | Promise<boolean>,
    context: () => string = () => '',
  ): Promise<LogIdentity> {
    let log: LogIdentity | null = null
    await until(
      async () => {
        await delay(LOOK_EVERY_MS)
        log = await this.look()
        return condition(log)
      },
      () => `${JSON.stringify(log)} ${context()}`,
    )
    return log!
  }
}
