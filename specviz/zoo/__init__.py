"""The recipe of the embedded zoo: from nothing to small trained models. Not imported by the app."""
