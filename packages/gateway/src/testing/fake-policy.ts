import { type Catalog, definePolicy, type Policy, type Step } from '@sluice/core'

/** Use of the policy of `fakeCatalog` in a plan. */
export const FAKE_POLICIES = [{ id: 'p', use: 'p', with: {}, when: null, onError: 'fail' as const }]

/** Returns a catalog with one policy, `p`, that runs the given hooks and accepts any settings. */
export function fakeCatalog(step: Omit<Step, 'name'>): Catalog {
  const schema = {} as Policy['schema']
  return new Map([
    ['p', definePolicy({ name: 'p', summary: 'A test.', schema, compile: () => ({ name: 'p', ...step }) })],
  ])
}
