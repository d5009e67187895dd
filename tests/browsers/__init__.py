"""Pages in real browsers: Chromium and Firefox from the distribution's packages."""
