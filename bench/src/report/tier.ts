import type { Tier } from '../model/scenario.js'

/** Cores and memory of the tiers, as the reference report counts them. */
export const TIERS: readonly { readonly tier: Tier; readonly cores: number; readonly memoryBytes: number }[] =
  [
    { tier: 'W1', cores: 1, memoryBytes: 2 * 1024 ** 3 },
    { tier: 'W2', cores: 2, memoryBytes: 2 * 1024 ** 3 },
    { tier: 'W4', cores: 4, memoryBytes: 4 * 1024 ** 3 },
    { tier: 'W8', cores: 8, memoryBytes: 8 * 1024 ** 3 },
  ]

/** How much memory a tier has. */
export function memoryOfTier(wanted: Tier): number {
  return TIERS.find(({ tier }) => tier === wanted)!.memoryBytes
}
