import { describe, expect, test } from 'vitest'
import { colorOf, colorsIn, gradientsOf } from '#shared/kit/css-values'

describe('a colour', () => {
  test.each([
    ['#fff', '#ffffff'],
    [' #F97316 ', '#f97316'],
    ['#f973', 'rgba(255, 153, 119, 0.2)'],
    ['#f9731680', 'rgba(249, 115, 22, 0.502)'],
    ['rgb(1, 2,3)', '#010203'],
    ['RGBA(24, 24, 27, .8)', 'rgba(24, 24, 27, 0.8)'],
    ['rgba(24,24,27,50%)', 'rgba(24, 24, 27, 0.5)'],
    ['hsl(0, 100%, 50%)', '#ff0000'],
    [' Transparent', 'rgba(0, 0, 0, 0)'],
    ['hsla(-120, 100%, 25%, 1)', '#000080'],
  ])('%s is written as %s, which is written the same', (given, written) => {
    expect(colorOf(given)).toBe(written)
    expect(colorOf(written)).toBe(written)
  })

  test.each([
    ...[
      '',
      '#',
      '#ff',
      '#fffff',
      '#ggg',
      'red',
      'transparent;',
      'transparent 50%',
      'currentColor',
      'inherit',
      'var(--x)',
      'rgb()',
      'rgb(1,2)',
    ],
    ...[
      'rgb(256,0,0)',
      'rgb(-1,0,0)',
      'rgb(1,2,3,4,5)',
      'rgba(1,2,3,2)',
      'rgb(1e2,0,0)',
      'rgb(NaN,0,0)',
      'rgb(0x1,0,0)',
    ],
    ...[
      'hsl(0,1,1)',
      'hsl(0, 101%, 0%)',
      'hsl(999,0%,0%)',
      'rgb(calc(1),0,0)',
      'rgb(var(--a),0,0)',
      'url(https://evil.test)',
    ],
    ...[
      '#fff;background:url(x)',
      '#fff}',
      '#fff\n}body{',
      '#fff/**/',
      '#fff\\3b',
      'expression(alert(1))',
      '#fff url(x)',
    ],
    ...[
      '</style><script>',
      '#fff"',
      "#fff'",
      'rgb(1,2,3);x',
      'rgb(1,2,3)rgb(1,2,3)',
      '#fff\u0000',
      '＃fff',
      'rgb(1,2,3',
    ],
    ...['image-set("x" 1x)', 'color-mix(in srgb, red, blue)', '#fff !important', `#${'f'.repeat(1_000)}`],
  ])('%j is none', (given) => expect(colorOf(given)).toBe(null))
})

describe('gradients', () => {
  test.each([
    ['linear-gradient(135deg,#0f0f23,#1a1a2e 50%,#16213e)', 'linear-gradient(135deg, #0f0f23, #1a1a2e 50%, #16213e)'],
    ['LINEAR-GRADIENT(to  top left, RGB(1,2,3), #fff 100%)', 'linear-gradient(to top left, #010203, #ffffff 100%)'],
    [
      'radial-gradient(circle at 20% 30%, #fff, transparent 50%)',
      'radial-gradient(circle at 20% 30%, #ffffff, transparent 50%)',
    ],
    ['radial-gradient(#fff,hsl(0, 100%, 50%))', 'radial-gradient(#ffffff, #ff0000)'],
    ['linear-gradient(#FFF 20PX, transparent .5px)', 'linear-gradient(#ffffff 20px, transparent 0.5px)'],
    [
      'radial-gradient(at center, #fff, #000), linear-gradient(#fff,#000)',
      'radial-gradient(at center, #ffffff, #000000), linear-gradient(#ffffff, #000000)',
    ],
  ])('%s is written as %s, which is written the same', (given, written) => {
    expect(gradientsOf(given)).toBe(written)
    expect(gradientsOf(written)).toBe(written)
    expect(colorsIn(written)[0]).toHaveLength(4)
  })

  test.each([
    ...[
      '',
      '#fff',
      'linear-gradient()',
      'linear-gradient(#fff)',
      'linear-gradient(135deg)',
      'linear-gradient(135deg, #fff)',
    ],
    ...[
      'linear-gradient(#fff, url(x))',
      'linear-gradient(#fff, #000), url(https://evil.test/x.png)',
      'url(x), linear-gradient(#fff,#000)',
    ],
    ...[
      'linear-gradient(#fff,#000);',
      'linear-gradient(#fff,#000)}',
      'linear-gradient(#fff,#000)) url(x',
      'linear-gradient((#fff),#000)',
    ],
    ...['conic-gradient(#fff,#000)', '-webkit-linear-gradient(#fff,#000)', 'linear-gradient(to nowhere, #fff, #000)'],
    ...['linear-gradient(to top top, #fff, #000)', 'radial-gradient(circleat center, #fff, #000)'],
    ...[
      'linear-gradient(calc(1deg), #fff, #000)',
      'linear-gradient(9999deg, #fff, #000)',
      'linear-gradient(#fff 101%, #000)',
      'linear-gradient(#fff 4001px, #000)',
      'linear-gradient(#fff -1px, #000)',
      'linear-gradient(#fff 20em, #000)',
      'linear-gradient(#fff 20px 30px, #000)',
      'linear-gradient(#fff calc(1px), #000)',
    ],
    ...['linear-gradient(#fff,#000) no-repeat', 'linear-gradient(#fff /* */, #000)', 'linear-gradient(#fff, #000\\29)'],
    `linear-gradient(${Array(9).fill('#fff').join()})`,
    Array(7).fill('linear-gradient(#fff,#000)').join(),
    `linear-gradient(${'('.repeat(900)}${')'.repeat(900)}`,
    `linear-gradient(#fff,${' '.repeat(1_900)}#000%)`,
    ','.repeat(2_000),
    ' '.repeat(10_000),
  ])('%j is none', (given) => expect(gradientsOf(given)).toBe(null))
})
