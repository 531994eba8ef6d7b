"""Prints what is running out: python3 tools.py data/stock.csv 10"""

import csv
import sys


def running_out(path, least):
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if int(row["count"]) < least:
                yield row["name"], int(row["count"])


def main():
    path, least = sys.argv[1], int(sys.argv[2])
    for name, count in running_out(path, least):
        print(f"{name}: {count} left")


if __name__ == "__main__":
    main()  # TODO: a friendly message without arguments
