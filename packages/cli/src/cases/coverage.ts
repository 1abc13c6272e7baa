import type { Plan } from '@sluice/config'
import type { Observed } from './expectations.js'

const MAX_NAMES = 10

/** Routes and policies of a document that requests of cases have reached. */
export class Coverage {
  readonly #routes: ReadonlySet<string>
  readonly #policies: ReadonlySet<string>
  readonly #seenRoutes = new Set<string>()
  readonly #seenPolicies = new Set<string>()

  constructor({ routes }: Plan) {
    this.#routes = new Set(routes.map(({ id }) => id))
    this.#policies = new Set(routes.flatMap(({ policies }) => policies.map(({ id }) => id)))
  }

  add({ route, steps }: Pick<Observed, 'route' | 'steps'>): void {
    if (route !== null) this.#seenRoutes.add(route)
    for (const { policy, outcome } of steps) if (outcome !== 'skipped') this.#seenPolicies.add(policy)
  }

  get value(): Record<'routes' | 'policies', Part> {
    return {
      routes: partOf(this.#routes, this.#seenRoutes),
      policies: partOf(this.#policies, this.#seenPolicies),
    }
  }

  /** Share of routes with a case, from 0 to 100. */
  get percent(): number {
    const { total, missing } = this.value.routes
    return total === 0 ? 100 : (100 * (total - missing.length)) / total
  }

  get lines(): string[] {
    const { routes, policies } = this.value
    return [
      lineOf(routes, 'route', ['has no case', 'have no case']),
      ...(policies.total === 0 ? [] : [lineOf(policies, 'policy', ['never ran', 'never ran'])]),
    ]
  }
}

interface Part {
  readonly total: number
  readonly missing: readonly string[]
}

function partOf(all: ReadonlySet<string>, seen: ReadonlySet<string>): Part {
  return { total: all.size, missing: [...all].filter((name) => !seen.has(name)).sort() }
}

function lineOf({ total, missing }: Part, noun: string, [one, several]: readonly [string, string]): string {
  const nouns = noun.replace(/y$/, 'ie')
  const all = total === 1 ? `1 ${noun}` : `${total} ${nouns}s`
  if (missing.length === 0) return `${all}, all covered`
  const names = missing.slice(0, MAX_NAMES).join(', ')
  const rest = missing.length - MAX_NAMES
  return `${missing.length} of ${all} ${missing.length === 1 ? one : several}: ${names}${rest > 0 ? ` and ${rest} more` : ''}`
}
