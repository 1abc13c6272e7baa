import type { Suite } from '../model/scenario.js'

const DAY = 86_400

/** What becomes of memory and files over a day of load and reloads. */
export const soak: Suite = {
  name: 'soak',
  description: 'a day at 60 % of saturation, with a reload every minute: heap, open files, lost requests',
  reproduces: null,
  cases: [],
  trials: [
    {
      id: 'soak',
      title: 'soak',
      action: 'another document is deployed every minute',
      ...{ workers: 1, log: 'none', needsSearchEngine: false, connections: 64 },
    },
  ],
  warmUpSeconds: 60,
  seconds: DAY,
  repetitions: 1,
}
