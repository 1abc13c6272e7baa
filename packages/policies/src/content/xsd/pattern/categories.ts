/**
 * Characters of each Unicode category as libxml2 defines them: the edition of 2003 without ideographs. So `\p{Lo}`
 * lacks 中, and `\w` includes characters added since. Each range is encoded in base 36 as the distance from the previous
 * one, and its length if it has more than one character. `1t-p` begins 65 later and has 25 more characters.
 */
const CATEGORIES: Readonly<Record<string, string>> = {
  Lu: '1t-p 2u-m 2-6 y 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 3 2 2 2 2 2 2 2 3 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2-1 2 2 4-1 2 2-1 2-2 3-3 2-1 2-2 4-1 2-1 2 2 2-1 2 3 2-1 2-2 2 2-1 4 8 3 3 3 2 2 2 2 2 2 2 3 2 2 2 2 2 2 2 2 3 3 2-2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 9g 2-2 2 2-1 2-g 2-8 13-2 4 2 2 2 2 2 2 2 2 2 2 2 6 3 2-1 6-1b 1d 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 a 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2-1 2 2 2 2 2 2 3 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 4 8 2 2 2 2 2 2 2 z-11 28a-11 2m3 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 c 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 g-7 9-5 b-7 9-7 9-5 c 2 2 2 9-7 21-3 d-3 d-3 d-4 c-3 7b 5 4-2 3-2 3 4-4 7 2 2 2-3 3-1 2 b-1 6 17to-p xy-13 1521-p r-p r-p r 2-1 3 3-1 3-3 2-7 r-p r-1 2-3 3-7 2-6 s-1 2-3 2-4 2 4-6 s-p r-p r-p r-p r-p r-p v-o y-o y-o y-o y-o',
  Ll: '2p-p 1c b 5 11-n 2-7 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2-1 2 2 2 2 2 2 2 2-1 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 3 2 2-2 3 2 3 4-1 5 3 4-2 3 3 2 2 3 2-1 2 3 4 2 3-1 3-2 7 3 3 2 2 2 2 2 2 2 2-1 2 2 2 2 2 2 2 2 2-1 3 2 4 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2-3 q-2n 69 s-y 2-1 4-2 2 2 2 2 2 2 2 2 2 2 2 2-4 2 3 3 1h-1b 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 a 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 3 2 2 2 2 2 2 3 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 4 8 2 2 2 2 2 2 2 2a-12 4mx-17 1j-9 46 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2-6 6 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 7-7 9-5 b-7 9-7 9-5 b-7 9-7 9-d 3-7 9-7 9-7 9-4 2-1 7 4-2 2-1 9-3 3-1 9-7 b-2 2-1 3e e 3v 4-1 4 s 5 5 4 9-3 1707-6 d-4 tm-p y6-13 151n-p r-6 2-h r-p r-3 2 2-6 2-a r-p r-p r-p r-p r-p r-p r-p r-p r-p v-o 2-5 r-o 2-5 r-o 2-5 r-o 2-5 r-o 2-5',
  Lt: 'cl 3 3 13 5ue-7 9-7 9-7 d g 1c',
  Lm: 'j4-h 5-b f-4 a 3w db 6f 4l-1 1gg 3k 1sh 30 yx-1h 3ok 18-4 6 2q-1 2m-2 14s2 1a-1',
  Lo: 'cb 5-3 st-q 6-2 1b-p 7-9 10-1 2-2q 2 p-1 b-2 3 h 2-t u-2 1d-11 c 9f-1h 4 j 8-9 10-7 3-1 3-l 2-6 2 4-3 4 v-1 2-2 f-1 k-5 5-1 3-l 2-6 2-1 2-1 2-1 w-3 2 k-2 h-8 2-2 2-l 2-6 2-1 2-4 4 j g-1 10-7 3-1 3-l 2-6 2-1 2-4 4 v-1 2-2 g i 2-5 4-2 2-3 4-1 2 2-1 4-1 4-2 4-7 2-2 24-7 2-2 2-m 2-9 2-4 13-1 10-7 2-2 2-m 2-9 2-4 4 x 2-1 10-7 2-2 2-m 2-f 13-1 10-h 4-n 2-8 2 3-6 1n-1b 2-1 d-5 1o-1 2 3-1 2 3 7-3 2-6 2-2 2 2 3-1 2-3 2-1 a 3-4 o-1 z 1s-7 2-x u-3 39-x 2-4 2-1 12-5 3f-14 8-2h 6-1v 6-29 7-6 2-1q 2 2-3 3-6 2 2-3 3-12 2 2-3 3-u 2 2-3 3-6 2 2-3 3-6 2-6 2-m 2-u 2 2-3 3-6 2-12 2-i 1y-2c d-h7 3-7 b-p 6-22 m-c 2-3 f-h f-h f-c 2-2 g-1f 15 1w-y 2-1f 9-14 2g-s 1g-t 3-4 1j5-3 2xa 1i 5-2d 9 2-2h 5 6-13 5-2l i-n 1l-f e9 52t 23 g4l 2j-wc 1h0 8mb 6l9-8d 3-1m 4z 2-9 2-c 2-4 2 2-1 2-1 2-2z y-a2 j-1r 3-1h 15-b 39-4 2-3q 2y-9 2-18 3-u 4-5 3-5 3-5 3-2 10-b 2-p 2-i 2-1 2-e 3-d z-3e ee-u i-p 1j-t 4z-25 o3-5 3 2-17 2-1 4 3 1cxt wye g16-f1',
  Mn: 'lc-2f 6-i 7o-3 7f-g 2-m 2-2 2 2-1 2 24-5 1i-d o 2u-6 3-5 3-1 2-3 10 v-q 2k-a 9d-1 1m 5-7 5 4-3 e-1 u 1n 5-3 9 l-1 u-1 1m 5-1 5-1 3-2 z-1 g-1 1m 5-4 2-1 5 l-1 u 1n 3 2-2 a 9 18 1q d 35-2 6-2 2-3 8-1 2u 3 7 6-1 38-2 a 3h 8-2 2 2j 3-6 d-7 2r 3-5 2-1 c-5 23-1 s 2 2 1k-d 2-4 2-1 9-7 2-z a 2v-3 2 4-1 2 v-1 1bt-2 u-2 u-1 v-1 1w-6 9 3-a a 1a-2 4c 3b-2 5-1 a 7-2 1hx-c 5 4-5 30g-5 2y-1 1404 ki-f h-3 15qc-2 i-7 3-6 v-3 h45v-6n',
  Mc: '1s3 1n-2 9-3 1i-1 1n-2 7-1 3-1 b 18 1n-2 1v 1n-2 9 2-1 1i-1 1n 2 7-1 3-1 b 2v-1 2-1 4-2 2-2 b 16-2 1q-3 1q-1 1n 2-4 3-1 2-1 a-1 18-1 1n-2 6-2 2-2 b 17-1 24-2 7-7 j-1 97-1 1s 4t 5 7 u-1 1gf 8-7 2-1 9n-3 3-2 5-1 2-5 2ey5-1 7-5',
  Me: 'w8-1 gl 54v-3 2-2',
  Nd: '1c-9 17r-9 3r-9 h9-9 3b-9 3b-9 3b-9 3b-9 3c-8 3b-9 3b-9 3b-9 69-9 3b-9 1z-9 7r-9 m8-8 vj-9 13-9 8d-9 19dt-9 13b-9 15ph-1d',
  Nl: '4j2-2 228-z 2v8 q-8 f-2 15ow',
  No: '4y-1 6 3-2 1ti-5 dz-2 mw-9 u7-a vo-9 1o7 4-5 7-9 5m-c ld-1n 27-l hj-t 1z3-3 3v-9 14-e x-9 14-e 14qw-18 dp-3',
  Pc: '2n 6ao-1 k 3af 14jc-1 p-2 6o 12',
  Pd: '19 125 3ng 1l6-5 35z k 34 14lt-1 12 b 4q',
  Ps: '14 1f w 2wv 2 1gf 1vj 4 13 1k g ik 3v qc 2 2 2 2 2 2 36 2 2 bd 2 2 2 2 2 2 2 2 2 2 1t 2 y 170 2 2 2 2 4 2 2 2 3 14ip 6v 2 2 2 2 2 2 2 4 i 2 2 4r 1f w 4 3',
  Pe: '15 1g w 2wu 2 1gf 1wq 1k g ik 3v qc 2 2 2 2 2 2 36 2 2 bd 2 2 2 2 2 2 2 2 2 2 1t 2 y 170 2 2 2 2 4 2 2 2 3-1 14io 6v 2 2 2 2 2 2 2 4 i 2 2 4r 1g w 3 3',
  Pi: '4r 67h 3-1 3 q',
  Pf: '57 672 4 t',
  Po: 'x-2 2-2 3 2 2-1 b-1 4-1 s 1x m 8 jj 9 cz-5 16 1h 2 3 1c-1 o-1 e 4 23-3 2v 18-d gn-1 b w4 2j b-1 4p-e 37 5h-5 4s h2-7 lh-1 3h-2 20-1 4e-2 2-2 12-5 2-3 8q-1 1ch-1 9-7 9-8 3-3 3-2 4-a 2 4 nz 2ff-2 1m 14oj l-1 3-3 4-2 2-3 8-2 7 2-1 46-2 2-2 3 2 2-1 b-1 4-1 s 11 3 bg-1 im',
  Zs: 'w 3k 4bk b2 1ki-a 11 1c 335',
  Zl: '6co',
  Zp: '6cp',
  Sm: '17 h-2 1q 2 1a 5 12 w lb 5la e 14-2 e-2 50-4 7 1x-4 6-1 5 3 3 8 w-1 3 2 w-7f 9-3 l-1 2j v-o ec a 1j-7 34 9t-l b-f 75-3m n-1q 5-v 3-75 154a mx 2-2 4l h-2 1q 2 3o 7-3 16fp q w q w q w q w q',
  Sc: '10 3i-3 1u5-1 72 7c g6 1wc 1qd-h 17pn 31 4b 64-1 4-1',
  Sk: '2m 2 20 7 5 4 ei-3 d-d 6-8 2-g 39-1 f-1 5ko 2-2 c-2 e-2 e-2 e-1 3a5-1 14te 2 4j',
  So: '4m-1 2 5 2 6 r0 b0-1 62 k-1 l8 ae 3n-5 2 lj-2 g-4 3-5 l 2 2 3q-7 2-5 3 1v5 4g-v 1dt-1 2-3 2-1 b 2-2 6-5 2 2 2 5 4 8-1 f 23-4 3-3 2-1 2-1 2-6 2-u 3-1 2 2-u 7h-7 5-j 3-6 3-28 2-t t-p 1c-12 q-a 2a-25 n-52 2-8 2-1h 9-n 2-2d 2-d 3-h f-1 2o-3 2-3 3-r 2-y 2 2-3 4 2-6 3-6 19 4-n 2-d 1u-73 e9-d oj-p 2-2g d-5x r-b 9 e-1 d m-1 7-1 9d-1 5-9 2p-u c-p d g-t 2 b-12 g-1q 2-73 535-1r h3l-1i hmf dj 4 5-1 e-1 79 1h-8 14u9-6t b-12 4-1m 6-2 n-1 8-t 5-1b 83-2e',
  Cc: '9-1 3 36-w',
  Cf: '4t 11v-3 62 1e 3ad-1 1na-4 r-4 1e-3 7-5 17yo 6y-2 15dk-7 h407 v-2n',
  Co: '188w 4xr jpc1 1ekd 3 1ekd',
}

/**
 * Name start characters and further name characters of XML 1.0, second edition, to which XML Schema refers.
 */
const NAMES = {
  start:
    '1m 7-p 5 2-p 1y-m 2-u 2-1l 3-a 3-7 2-1g 2-1v a-z 4-1 5-t 1l-2g j-6 5h 2-2 2 2-j 2-17 2-6 4 2 2 2 2-h e-b 2-1t 2-b 2-z f-1g 3-1 3-1 4-r 3-7 3-1 1k-11 3 8-11 22-q 6-2 1b-p 7-9 13-1y 3-4 2-e 2-3 2 g-1 f3-1g 4 r-9 10-7 3-1 3-l 2-6 2 4-3 z-1 2-2 f-1 k-5 5-1 3-l 2-6 2-1 2-1 2-1 w-3 2 k-2 h-6 2 2-2 2-l 2-6 2-1 2-4 4 z 11-7 3-1 3-l 2-6 2-1 3-3 4 v-1 2-2 10-5 4-2 2-3 4-1 2 2-1 4-1 4-2 4-7 2-2 24-7 2-2 2-m 2-9 2-4 13-1 10-7 2-2 2-m 2-9 2-4 11 2-1 10-7 2-2 2-m 2-f 13-1 4g-19 2 2-1 d-5 1o-1 2 3-1 2 3 7-3 2-6 2-2 2 2 3-1 2-1 2 2-1 a 3-4 3g-7 2-w 8n-11 b-12 a 2-1 2-2 2 2-1 2-4 16 2 2 c 2 2 4-1 4 6-2 2 2 2 2 4-1 4-1 2 15 a 3 3-1 8-1 2 2-6 15 5 9 2dj-4b 5-2h 7-l 3-5 3-11 3-5 3-7 2 2 2 2-u 3-1g 2-6 2 4-2 2-6 4-3 3-5 5-c 6-2 2-6 8a 4-1 3 2a-2 2v9 q-8 o-2b d-2h b-13 5p0-g4l 2fv-8mb',
  more: '19-1 2-9 3i ex-1 1b-1x r-1 12 70-3 7f-g 2-m 2-2 2 2-1 2 3g b-7 e-9 7 2u-e 3-1 2-3 3-9 eg-2 1l 2-f 4-3 e-1 3-9 i-2 1l 2-6 3-1 3-2 a b-1 3-9 j 1m 2-4 5-1 3-2 p-b g-2 1l 2-7 2-2 2-2 p-9 i-2 1l 2-5 4-1 3-2 9-1 f-9 j-1 1n-4 4-2 2-3 a g-8 i-2 1n-6 2-2 2-3 8-1 g-9 j-1 1n-6 2-2 2-3 8-1 g-9 j-1 1n-5 3-2 2-3 a f-9 5e 3-6 c-8 2-9 2g 3-5 2-1 a 2-5 3-9 1r-1 7-9 c 2 2 5-1 1e-j 2-5 5-5 2 2-k 4-6 2 3dj-c 5 2zo 11-5 2-4 2s-1 3-1 2m-2',
}

/** Returns the ranges of a category, or of all categories with the same first letter. */
export function categoryRanges(name: string): readonly Range[] {
  const names = Object.keys(CATEGORIES).filter((one) => one.startsWith(name))
  return names.flatMap((one) => rangesOf(CATEGORIES[one]!))
}

/** Returns the ranges of name start characters, or of further name characters. */
export function nameRanges(part: keyof typeof NAMES): readonly Range[] {
  return rangesOf(NAMES[part])
}

type Range = readonly [from: number, to: number]

function rangesOf(words: string): readonly Range[] {
  let to = 0
  return words.split(' ').map((word) => {
    const [distance, length = '0'] = word.split('-')
    const from = to + Number.parseInt(distance!, 36)
    to = from + Number.parseInt(length, 36)
    return [from, to] as const
  })
}
