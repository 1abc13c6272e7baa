import type { HostFacts } from '../model/summary.js'
import { QUIET_SHARE } from './quiet-look.js'

/** What of the machine makes every figure of a run doubtful. */
export function hostWarnings({
  foreignShare,
  stolenShare,
}: Pick<HostFacts, 'foreignShare' | 'stolenShare'>): string[] {
  const percent = (share: number): string => `${Math.round(share * 100)} %`
  const warnings: string[] = []
  if (foreignShare > QUIET_SHARE)
    warnings.push(`the machine was not quiet: others used ${percent(foreignShare)} of it before the run`)
  if (stolenShare > QUIET_SHARE)
    warnings.push(`the machine below took ${percent(stolenShare)} of the time away before the run`)
  return warnings
}
