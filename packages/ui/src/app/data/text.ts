/** Formats a rate: `0`, `0.12`, `4.2`, `1,234`. */
export function rateText(value: number): string {
  if (value === 0) return '0'
  if (value < 1) return value.toFixed(2)
  return value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en')
}

/** Formats a latency in milliseconds. */
export function latencyText(ms: number | null): string {
  if (ms === null) return '–'
  if (ms < 10) return `${ms.toFixed(1)} ms`
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

/** Formats a share from 0 to 1. */
export function shareText(share: number): string {
  const percent = share * 100
  return `${percent === 0 || percent >= 10 ? Math.round(percent) : percent.toFixed(percent < 0.1 ? 2 : 1)} %`
}

/** Formats a duration with its largest unit. */
export function ageText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`
}

/** Formats a size in MB. */
export function sizeText(bytes: number): string {
  return `${Math.round(bytes / 1_048_576)} MB`
}
