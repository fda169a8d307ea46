"""Draws picture.png, the picture that the example classifies if it gets no arguments: a boat at sunset."""

import numpy as np
from PIL import Image

HEIGHT, WIDTH = 240, 320
HORIZON = 150
y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(float)


def colour(*components):
    return np.array(components, dtype=float)


def mix(a, b, share):
    return a + (b - a) * np.clip(share, 0, 1)[..., None]


sky = mix(colour(38, 70, 140), colour(255, 170, 90), y / HORIZON)
sun = np.hypot(x - 225, y - 120) < 28
sky[sun] = colour(255, 235, 170)
sea = mix(colour(200, 120, 80), colour(15, 45, 85), (y - HORIZON) / (HEIGHT - HORIZON))
wave = (np.sin(x / 9 + 4 * np.sin(y / 7)) * (y - HORIZON) > 40) & (y > HORIZON)
sea[wave] += 18
picture = np.where((y < HORIZON)[..., None], sky, sea)

hull = (y > 165) & (y < 185) & (np.abs(x - 120) < 60 - (y - 165))
mast = (np.abs(x - 120) < 2) & (y > 50) & (y <= 165)
main_sail = (x > 124) & (y > 55) & (y < 158) & (x - 124 < (y - 55) * 0.5)
jib = (x < 116) & (y > 70) & (y < 158) & (116 - x < (y - 70) * 0.4)
picture[hull] = colour(110, 50, 35)
picture[mast] = colour(70, 45, 30)
picture[main_sail] = colour(245, 240, 230)
picture[jib] = colour(205, 60, 50)

Image.fromarray(np.clip(picture, 0, 255).astype(np.uint8)).save("picture.png", optimize=True)
