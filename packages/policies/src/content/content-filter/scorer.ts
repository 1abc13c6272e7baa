import type { Exchange, Slot } from '@sluice/core'
import type { Rule } from './rules.js'

/** Matches found in an exchange so far. */
export interface Findings {
  readonly names: Set<string>
  readonly tags: Set<string>
  score: number
}

/** Records matches for the traffic log and for conditions, and decides whether to block. */
export class Scorer {
  readonly #findings: Slot<Findings>
  /** Score at which a message is refused. Infinity if the first `block` rule refuses. */
  readonly #threshold: number

  constructor(findings: Slot<Findings>, threshold: number | undefined) {
    this.#findings = findings
    this.#threshold = threshold ?? Number.POSITIVE_INFINITY
  }

  /** Records matching rules. Returns true if the message must not pass. */
  blocks(x: Exchange, found: readonly Rule[]): boolean {
    if (found.length === 0) return false
    const findings = this.#findingsOf(x)
    let isBlocked = false
    for (const { name, action, score } of found) {
      const isNew = !findings.names.has(name)
      findings.names.add(name)
      if (action === 'tag') findings.tags.add(name)
      if (action !== 'block') continue
      if (this.#threshold === Number.POSITIVE_INFINITY) isBlocked = true
      else if (isNew) findings.score += score
    }
    this.#publish(x, findings)
    return isBlocked || findings.score >= this.#threshold
  }

  #findingsOf(x: Exchange): Findings {
    let findings = this.#findings.get(x)
    if (findings === undefined) {
      findings = { names: new Set(), tags: new Set(), score: 0 }
      this.#findings.set(x, findings)
    }
    return findings
  }

  #publish(x: Exchange, { names, tags, score }: Findings): void {
    x.setVar('content-filter.rule', [...names].join(' '))
    if (tags.size > 0) x.setVar('content-filter.tag', [...tags].join(' '))
    if (this.#threshold !== Number.POSITIVE_INFINITY) x.setVar('content-filter.score', String(score))
  }
}
