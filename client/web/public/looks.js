try {
  for (const name of ['theme', 'size', 'density']) {
    const chosen = localStorage.getItem(`plaza.${name}`)
    if (chosen) document.documentElement.dataset[name] = chosen
  }
} catch {}
