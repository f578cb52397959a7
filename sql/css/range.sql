-- needs: positions/geometry.sql, css/los.sql
-- Range and trace in css (Guam): 6.3, 7.1.1, 8.1, 22.3.1.

create or replace function css.range(position_id bigint, "from" text, "to" text)
returns setof rulings.sight_step
language plpgsql stable parallel safe rows 2
as $$
declare
  ends record;
  step rulings.sight_step;
begin
  select
    'hex:' || (start.attributes -> 'zone' ->> 'beach') as start_beach,
    'hex:' || (target.attributes -> 'zone' ->> 'beach') as target_beach,
    coalesce(start.attributes -> 'zone', target.attributes -> 'zone') as zone,
    coalesce(start.attributes ->> 'in_cave', 'false') <> coalesce(target.attributes ->> 'in_cave', 'false')
      as through_cave_mouth
  into ends
  from positions.place(range.position_id, range."from") as start,
    positions.place(range.position_id, range."to") as target;
  step := positions._range(
    range.position_id, coalesce(ends.start_beach, range."from"), coalesce(ends.target_beach, range."to"), '8.1'
  );
  step.at := positions.spoken(range."to");
  return next step;
  if ends.zone is not null then
    step.rule := '22.3.1';
    step.at := ends.zone ->> 'beach';
    step.effect := css._naval_effect(ends.zone ->> 'run');
    step.note := 'a naval zone is counted from its beach hex';
    step.range := step.range + css._naval_hexes(ends.zone ->> 'run');
    return next step;
  elsif step.range = 0 and ends.through_cave_mouth then
    step.rule := '6.3';
    step.effect := '+1';
    step.note := 'inside and outside of a cave are one hex apart';
    step.range := 1;
    return next step;
  end if;
end
$$;

comment on function css.range(bigint, text, text) is
'The range between two hexes or units, with what a naval zone or the mouth of a cave adds; null is out of all range.';

create or replace function css.trace(position_id bigint, "from" text, "to" text)
returns setof rulings.trace_step
language sql stable parallel safe rows 20
as $$
  select * from positions._trace(trace.position_id, trace."from", trace."to", '7.1.1')
$$;

comment on function css.trace(bigint, text, text) is
'What the line between two hexes or units passes: hexes, sides that it runs along, and hexes met in a point.';
