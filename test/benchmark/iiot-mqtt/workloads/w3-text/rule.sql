SELECT meta(topic) AS topic, self AS state FROM telem
