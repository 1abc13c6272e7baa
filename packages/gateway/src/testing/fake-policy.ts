import { type Catalog, definePolicy, type Policy, type Step } from '@sluice/core'

/** How a plan uses the policy of `fakeCatalog`. */
export const FAKE_POLICIES = [{ id: 'p', use: 'p', with: {}, when: null, onError: 'fail' as const }]

/** A catalog whose one policy, `p`, does what a test says; it takes every setting. */
export function fakeCatalog(step: Omit<Step, 'name'>): Catalog {
  const schema = {} as Policy['schema']
  return new Map([
    ['p', definePolicy({ name: 'p', summary: 'A test.', schema, compile: () => ({ name: 'p', ...step }) })],
  ])
}
